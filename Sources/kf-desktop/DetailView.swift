// One image in the size of the window, and details about it.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// The view of a single image.
@MainActor
final class DetailView {
    let widget: Widget

    private let view = ZoomView()
    private let actions: DetailActions
    private let loading: Loading
    private let details = DetailList()
    /// The image, and the details beside it or below.
    private let shown: Widget
    /// Why there is no image, shown over the place where it would be.
    private let failure = Widget.box(GTK_ORIENTATION_VERTICAL)
    private let reason = Widget.label("reason")
    /// Whether no load is running.
    private(set) var isComplete = true

    init(_ loading: Loading, _ actions: Actions) {
        self.loading = loading
        let image = KFGTK.cast(view.rawWidget, to: GtkWidget.self)
        for part in [Widget.failureSymbol(), reason] { gtk_box_append(KFGTK.cast(failure, to: GtkBox.self), part) }
        gtk_widget_add_css_class(failure, "failure")
        gtk_label_set_wrap(reason.opaque, 1)
        gtk_label_set_wrap_mode(reason.opaque, PANGO_WRAP_WORD_CHAR)
        gtk_label_set_justify(reason.opaque, GTK_JUSTIFY_CENTER)
        gtk_label_set_max_width_chars(reason.opaque, 60)
        let pane = Widget.overlay(failure, on: image)
        gtk_widget_set_hexpand(pane, 1)
        gtk_widget_set_vexpand(pane, 1)
        gtk_widget_add_css_class(pane, "large")
        self.actions = DetailActions(view, loading.cache, actions)
        shown = Widget.box(GTK_ORIENTATION_HORIZONTAL, [pane, details.widget])
        widget = Widget.box(GTK_ORIENTATION_VERTICAL, [shown, self.actions.widget])
        view.allowsDragging = true
        view.kf.indicatorType = .activity
        show(failure: nil)
    }

    /// Shows an image.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - preview: The image shown until then, instead of the image's own placeholder.
    func show(_ image: GalleryImage, preview: KFCrossPlatformImage?) {
        isComplete = false
        details.show(["Source": image.source.url?.absoluteString ?? image.source.cacheKey])
        show(failure: nil)
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
    func showDetails(_ areShown: Bool) { gtk_widget_set_visible(details.widget, areShown ? 1 : 0) }

    /// Whether the details are below the image, for want of room beside it.
    var isNarrow = false {
        didSet {
            guard isNarrow != oldValue else { return }
            gtk_orientable_set_orientation(
                shown.opaque,
                isNarrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
            )
            details.isNarrow = isNarrow
        }
    }

    /// Gives the focus to the image, so that keys zoom and move it.
    func focus() { gtk_widget_grab_focus(KFGTK.cast(view.rawWidget, to: GtkWidget.self)) }

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
            show(failure: error.localizedDescription)
        }
        isComplete = true
        details.show(known)
    }

    private func show(failure text: String?) {
        gtk_label_set_text(reason.opaque, text ?? "")
        gtk_widget_set_visible(failure, text == nil ? 0 : 1)
    }
}
#endif
