// One picture, as large as the window, and what is known of it. Knows no grid.

import CKFGTK4
import Foundation
import KFImaging
import Kingfisher
import KingfisherGTK

/// A picture that is looked at.
@MainActor
final class DetailView {
    let widget: Widget
    private let view = AnimatedImageView()
    private let loading: Loading
    private let facts: [(name: String, value: Widget)]
    /// Whether no picture is on its way.
    private(set) var isComplete = true

    init(_ loading: Loading) {
        self.loading = loading
        facts = ["Source", "Size", "Format", "Frames", "Came from", "Took"].map { ($0, Widget.label("value")) }
        let column = Widget.box(GTK_ORIENTATION_VERTICAL)
        gtk_widget_add_css_class(column, "facts")
        gtk_widget_set_size_request(column, 260, -1)
        for fact in facts {
            let name = Widget.label("name", text: fact.name)
            for label in [name, fact.value] {
                gtk_label_set_xalign(label.opaque, 0)
                gtk_box_append(column.as(GtkBox.self), label)
            }
            gtk_label_set_wrap(fact.value.opaque, 1)
            gtk_label_set_wrap_mode(fact.value.opaque, PANGO_WRAP_WORD_CHAR)
            gtk_label_set_selectable(fact.value.opaque, 1)
        }
        let picture = Widget(view.widget)
        gtk_widget_set_hexpand(picture, 1)
        gtk_widget_set_vexpand(picture, 1)
        gtk_widget_add_css_class(picture, "large")
        widget = Widget.box(GTK_ORIENTATION_HORIZONTAL, [picture, column])
        view.kf.indicatorType = .activity
    }

    /// Shows a picture.
    ///
    /// - Parameters:
    ///   - picture: The picture.
    ///   - preview: What is shown until it is there, instead of its own placeholder.
    func show(_ picture: Picture, preview: KFCrossPlatformImage?) {
        isComplete = false
        write(["Source": picture.source.url?.absoluteString ?? picture.source.cacheKey])
        view.accessibilityLabel = picture.title
        let start = ContinuousClock.now
        view.kf.setImage(
            with: picture.source,
            placeholder: preview ?? picture.placeholder,
            options: loading.whole()
        ) { [weak self] result in
            self?.end(result, picture, after: start.duration(to: .now))
        }
    }

    /// Shows nothing.
    func clear() {
        view.kf.cancelDownloadTask()
        view.kf.setImage(with: nil as Source?)
        isComplete = true
    }

    private func end(
        _ result: Result<RetrieveImageResult, KingfisherError>,
        _ picture: Picture,
        after time: Duration
    ) {
        var known = ["Source": picture.source.url?.absoluteString ?? picture.source.cacheKey]
        switch result {
        case .success(let value):
            let image = value.image
            known["Size"] = "\(Int(image.size.width)) × \(Int(image.size.height))"
            known["Format"] = image.contentType?.name
            known["Frames"] = image.frameCount.map { "\($0)" }
            known["Came from"] = value.cacheType.word
            known["Took"] = String(format: "%.1f ms", time / .milliseconds(1))
        case .failure(let error):
            if error.isTaskCancelled || error.isNotCurrentTask { return }
            known["Came from"] = error.localizedDescription
        }
        isComplete = true
        write(known)
    }

    private func write(_ known: [String: String]) {
        for fact in facts { gtk_label_set_text(fact.value.opaque, known[fact.name] ?? "–") }
    }
}
