// What can be done with an image that is shown alone: the buttons below it, and their keys.

import CKFDesktop
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A `GtkBox` of buttons for a zoom view.
@MainActor
final class DetailActions {
    let widget: Widget
    /// Called with 1 for the next image, and with −1 for the one before.
    var onMove: (@MainActor (Int) -> Void)?
    /// The image that the view shows, or is about to show.
    var image: GalleryImage? { didSet { isLoaded = false } }
    /// Whether it is there: a placeholder has another size.
    var isLoaded = false { didSet { showZoom() } }

    private let view: ZoomView
    private let cache: ImageCache
    private let status = Widget.label("status")
    /// Whether the user is being asked where to save.
    private var isAsking = false

    init(_ view: ZoomView, _ cache: ImageCache) {
        (self.view, self.cache) = (view, cache)
        widget = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6)
        gtk_widget_add_css_class(widget, "toolbar")
        gtk_widget_set_hexpand(status, 1)
        gtk_label_set_ellipsize(status.opaque, PANGO_ELLIPSIZE_END)
        add("go-previous-symbolic", "Previous", keys: "Left|Page_Up") { $0.onMove?(-1) }
        add("go-next-symbolic", "Next", keys: "Right|Page_Down") { $0.onMove?(1) }
        add("zoom-fit-best-symbolic", "All of the image (0)") { $0.view.mode = .fit }
        add("zoom-original-symbolic", "Actual size (1)") { $0.view.mode = .actualSize }
        gtk_box_append(widget.as(GtkBox.self), status)
        add("edit-copy-symbolic", "Copy", keys: "<Control>c") { $0.copy() }
        add("document-save-as-symbolic", "Save as", keys: "<Control>s") { $0.save() }
        add("view-fullscreen-symbolic", "Full screen", keys: "F11") { $0.toggleFullScreen() }
        view.onZoom = { [weak self] in self?.showZoom() }
    }

    /// Adds a button; its keys work wherever the focus is, unless what has it uses them.
    private func add(
        _ icon: String,
        _ name: String,
        keys: String? = nil,
        _ action: @escaping @MainActor (DetailActions) -> Void
    ) {
        let button: Widget = gtk_button_new_from_icon_name(icon)
        gtk_widget_set_tooltip_text(button, name)
        button.setAccessibleName(name)
        connectSignal("clicked", of: button) { [weak self] _ in self.map(action) }
        gtk_box_append(widget.as(GtkBox.self), button)
        guard let keys else { return }
        let shortcuts = gtk_shortcut_controller_new()
        gtk_shortcut_controller_set_scope(shortcuts, GTK_SHORTCUT_SCOPE_GLOBAL)
        gtk_shortcut_controller_add_shortcut(
            shortcuts,
            gtk_shortcut_new(gtk_shortcut_trigger_parse_string(keys), gtk_signal_action_new("clicked"))
        )
        gtk_widget_add_controller(button, shortcuts)
    }

    private func showZoom() {
        show(isLoaded ? "\(Int((view.zoom * 100).rounded())) %" : "")
    }

    private func show(_ text: String) { gtk_label_set_text(status.opaque, text) }

    private func copy() { show(view.copy() ? "Copied" : "There is no image to be copied") }

    private var window: UnsafeMutablePointer<GtkWindow>? {
        gtk_widget_get_root(widget).map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWindow.self) }
    }

    private func toggleFullScreen() {
        guard let window else { return }
        let isFull = gtk_window_is_fullscreen(window) != 0
        if isFull { gtk_window_unfullscreen(window) } else { gtk_window_fullscreen(window) }
    }

    // MARK: Saving

    private func save() {
        guard !isAsking, isLoaded, let image, let shown = view.image else { return }
        let source = OriginalFile(of: image.source, in: cache)
        let answer = Answer { [weak self] path in
            self?.isAsking = false
            path.map { self?.write(source, or: shown, to: URL(fileURLWithPath: $0)) }
        }
        isAsking = true
        let name = source.suggestedName(image.title, shown.contentType)
        kf_save_dialog_show(window, "Save as", name, Answer.receive, Unmanaged.passRetained(answer).toOpaque())
    }

    private func write(_ source: OriginalFile, or shown: KFCrossPlatformImage, to url: URL) {
        Task {
            let failure = await Task.detached { () -> (any Error)? in
                do {
                    try source.write(or: shown, to: url)
                    return nil
                } catch { return error }
            }.value
            show(failure.map { "\(url.path) cannot be written: \($0.localizedDescription)" } ?? "Saved: \(url.path)")
        }
    }
}

/// What is to be done when a dialog is answered; the dialog owns it until then.
@MainActor
private final class Answer {
    private let take: @MainActor (String?) -> Void

    init(_ take: @escaping @MainActor (String?) -> Void) { self.take = take }

    /// Called by GTK on the main thread, once.
    static let receive: @convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = { path, context in
        guard let context else { return }
        let path = path.map { String(cString: $0) }
        let answer = Unmanaged<Answer>.fromOpaque(context).takeRetainedValue()
        MainActor.assumeIsolated { answer.take(path) }
    }
}

/// The bytes of a source, as its server or file has them.
private struct OriginalFile: Sendable {
    private let cache: ImageCache
    private let key: String
    private let file: URL?

    /// Those in a file of the user's, or in the cache.
    init(of source: Source, in cache: ImageCache) {
        (self.cache, key) = (cache, source.cacheKey)
        file = source.url.flatMap { $0.isFileURL ? $0 : nil }
    }

    /// A name for the copy, with the extension of its format; PNG is what is written when there are no bytes.
    func suggestedName(_ title: String, _ format: ImageContentType?) -> String {
        let title = (title as NSString).lastPathComponent as NSString
        let hasBytes = file != nil || cache.diskStorage.isCached(forKey: key)
        guard hasBytes else { return title.deletingPathExtension + ".png" }
        guard title.pathExtension.isEmpty, let format = format?.name.lowercased() else { return title as String }
        return "\(title).\(format)"
    }

    /// Writes the bytes as they are, or the image as PNG if there are none.
    func write(or image: KFCrossPlatformImage, to url: URL) throws {
        let bytes = try file.map { try Data(contentsOf: $0) } ?? cache.diskStorage.value(forKey: key)
        guard let data = bytes ?? image.kf.pngRepresentation() else { throw CocoaError(.fileWriteUnknown) }
        try data.write(to: url, options: .atomic)
    }
}
