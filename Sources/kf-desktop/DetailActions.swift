// What can be done with an image that is shown alone: the buttons below it, and how it is zoomed, copied and saved.

#if canImport(CKFGTK4)
import CKFDesktop
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A `GtkBox` of buttons for a zoom view.
@MainActor
final class DetailActions {
    let widget: Widget
    /// The image that the view shows, or is about to show; nil has the actions disabled.
    var image: GalleryImage? {
        didSet {
            isLoaded = false
            for action in Self.own { actions.enable(action, image != nil) }
        }
    }
    /// Whether it is there: a placeholder has another size.
    var isLoaded = false { didSet { showZoom() } }

    private let view: ZoomView
    private let cache: ImageCache
    private let actions: Actions
    private let status = Widget.label("status")
    /// Whether the user is being asked where to save.
    private var isAsking = false

    private static let own: [Action] = [
        .zoomIn, .zoomOut, .wholeImage, .actualSize, .panLeft, .panRight, .panUp, .panDown, .copy, .save,
    ]

    init(_ view: ZoomView, _ cache: ImageCache, _ actions: Actions) {
        (self.view, self.cache, self.actions) = (view, cache, actions)
        widget = Widget.box(GTK_ORIENTATION_HORIZONTAL)
        gtk_widget_add_css_class(widget, "actions")
        gtk_widget_set_hexpand(status, 1)
        gtk_label_set_ellipsize(status.opaque, PANGO_ELLIPSIZE_END)
        add(.previous, "go-previous-symbolic", "Previous (←)")
        add(.next, "go-next-symbolic", "Next (→)")
        add(.wholeImage, "zoom-fit-best-symbolic", "All of the image (0)")
        add(.actualSize, "zoom-original-symbolic", "Actual size (1)")
        gtk_box_append(KFGTK.cast(widget, to: GtkBox.self), status)
        add(.copy, "edit-copy-symbolic", "Copy (Ctrl+C)")
        add(.save, "document-save-as-symbolic", "Save as (Ctrl+S)")
        add(.fullScreen, "view-fullscreen-symbolic", "Full screen (F11)")
        view.onZoom = { [weak self] in self?.showZoom() }
        connect()
    }

    private func add(_ action: Action, _ icon: String, _ name: String) {
        let button = Widget.button(icon: icon, name: name, action)
        gtk_box_append(KFGTK.cast(widget, to: GtkBox.self), button)
    }

    private func connect() {
        actions.set(.zoomIn) { [view] in view.zoom *= 1.25 }
        actions.set(.zoomOut) { [view] in view.zoom /= 1.25 }
        actions.set(.wholeImage) { [view] in view.mode = .fit }
        actions.set(.actualSize) { [view] in view.mode = .actualSize }
        actions.set(.panLeft) { [weak self] in self?.pan(1, 0) }
        actions.set(.panRight) { [weak self] in self?.pan(-1, 0) }
        actions.set(.panUp) { [weak self] in self?.pan(0, 1) }
        actions.set(.panDown) { [weak self] in self?.pan(0, -1) }
        actions.set(.copy) { [weak self] in self?.copy() }
        actions.set(.save) { [weak self] in self?.save() }
        image = nil
    }

    /// Moves the image by an eighth of the view.
    private func pan(_ right: CGFloat, _ down: CGFloat) {
        let size = view.bounds.size
        view.pan(by: CGSize(width: right * size.width / 8, height: down * size.height / 8))
    }

    private func showZoom() {
        show(isLoaded ? "\(Int((view.zoom * 100).rounded())) %" : "")
    }

    private func show(_ text: String) { gtk_label_set_text(status.opaque, text) }

    private func copy() { show(view.copy() ? "Copied" : "There is no image to be copied") }

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
        let window = gtk_widget_get_root(widget).map { KFGTK.cast($0, to: GtkWindow.self) }
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
#endif
