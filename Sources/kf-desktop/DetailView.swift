// One image in the size of the window, and details about it.

import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// The view of a single image.
@MainActor
final class DetailView {
    let widget: Widget
    /// Called with 1 for the next image, and with −1 for the one before.
    var onMove: (@MainActor (Int) -> Void)? {
        get { actions.onMove }
        set { actions.onMove = newValue }
    }

    private let view = ZoomView()
    private let actions: DetailActions
    private let loading: Loading
    private let details: [(name: String, value: Widget)]
    /// The details, beside the image.
    private let column = Widget.box(GTK_ORIENTATION_VERTICAL)
    /// Whether no load is running.
    private(set) var isComplete = true

    init(_ loading: Loading) {
        self.loading = loading
        details = ["Source", "Size", "Format", "Frames", "Came from", "Took"].map { ($0, Widget.label("value")) }
        gtk_widget_add_css_class(column, "details")
        gtk_widget_set_size_request(column, 260, -1)
        for detail in details {
            let name = Widget.label("name", text: detail.name)
            for label in [name, detail.value] {
                gtk_label_set_xalign(label.opaque, 0)
                gtk_box_append(column.as(GtkBox.self), label)
            }
            gtk_label_set_wrap(detail.value.opaque, 1)
            gtk_label_set_wrap_mode(detail.value.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_selectable(detail.value.opaque, 1)
        }
        let imageWidget = Widget(view.widget)
        gtk_widget_set_hexpand(imageWidget, 1)
        gtk_widget_set_vexpand(imageWidget, 1)
        gtk_widget_add_css_class(imageWidget, "large")
        actions = DetailActions(view, loading.cache)
        let shown = Widget.box(GTK_ORIENTATION_HORIZONTAL, [imageWidget, column])
        widget = Widget.box(GTK_ORIENTATION_VERTICAL, [shown, actions.widget])
        view.allowsDragging = true
        view.kf.indicatorType = .activity
    }

    /// Shows an image.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - preview: The image shown until then, instead of the image's own placeholder.
    func show(_ image: GalleryImage, preview: KFCrossPlatformImage?) {
        isComplete = false
        write(["Source": image.source.url?.absoluteString ?? image.source.cacheKey])
        view.accessibilityLabel = image.title
        actions.image = image
        let start = ContinuousClock.now
        view.kf.setImage(
            with: image.source,
            placeholder: preview ?? image.placeholder,
            options: loading.whole()
        ) { [weak self] result in
            self?.end(result, image, after: start.duration(to: .now))
        }
    }

    /// Whether the details are there: not in full screen.
    func showDetails(_ areShown: Bool) { gtk_widget_set_visible(column, areShown ? 1 : 0) }

    /// Gives the focus to the image, so that keys zoom and move it.
    func focus() { gtk_widget_grab_focus(Widget(view.widget)) }

    /// Shows nothing.
    func clear() {
        actions.image = nil
        view.kf.cancelDownloadTask()
        view.kf.setImage(with: nil as Source?)
        isComplete = true
    }

    private func end(
        _ result: Result<RetrieveImageResult, KingfisherError>,
        _ requested: GalleryImage,
        after time: Duration
    ) {
        var known = ["Source": requested.source.url?.absoluteString ?? requested.source.cacheKey]
        switch result {
        case .success(let value):
            actions.isLoaded = true
            let image = value.image
            known["Size"] = "\(Int(view.originalSize.width)) × \(Int(view.originalSize.height))"
            known["Format"] = image.contentType?.name
            known["Frames"] = image.frameCount.map { "\($0)" }
            known["Came from"] = value.origin
            known["Took"] = String(format: "%.1f ms", time / .milliseconds(1))
        case .failure(let error):
            if error.isTaskCancelled || error.isNotCurrentTask { return }
            known["Came from"] = error.localizedDescription
        }
        isComplete = true
        write(known)
    }

    private func write(_ known: [String: String]) {
        for detail in details { gtk_label_set_text(detail.value.opaque, known[detail.name] ?? "–") }
    }
}
