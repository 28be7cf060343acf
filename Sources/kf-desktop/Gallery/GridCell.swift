// One cell of the grid, which shows one image after the other.

import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A cell: an image, below it its title and where it came from, and a button after a failure.
@MainActor
final class GridCell {
    /// The size of the image, in points.
    static let size = CGSize(width: 196, height: 147)

    let widget: Widget
    /// Shows images and plays animations.
    let view = AnimatedImageView()
    private let title = Widget.label("caption-title")
    private let origin = Widget.label("origin")
    private let again: Widget = gtk_button_new_with_label("Try again")
    private let loading: Loading
    private var image: GalleryImage?
    /// Whether the image is being loaded.
    private(set) var isLoading = false

    init(_ loading: Loading) {
        self.loading = loading
        view.contentMode = .scaleAspectFill
        let imageWidget = Widget(view.widget)
        gtk_widget_set_size_request(imageWidget, Int32(Self.size.width), Int32(Self.size.height))
        gtk_widget_set_overflow(imageWidget, GTK_OVERFLOW_HIDDEN)
        gtk_widget_add_css_class(imageWidget, "cell-image")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(title.opaque, 0)
        gtk_label_set_max_width_chars(title.opaque, 1)  // as wide as the image, however long it is
        gtk_widget_add_css_class(again, "try-again")
        let caption = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [origin, again])
        widget = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 4, [imageWidget, title, caption])
        // A wider cell would cut the image once more.
        gtk_widget_set_halign(widget, GTK_ALIGN_CENTER)
        connectSignal("clicked", of: again) { [weak self] _ in self?.reload() }
    }

    /// Loads an image and shows it.
    func show(_ image: GalleryImage) {
        self.image = image
        isLoading = true
        gtk_label_set_text(title.opaque, image.title)
        show(origin: "", error: nil)
        view.accessibilityLabel = image.title
        view.kf.setImage(
            with: image.source,
            placeholder: image.placeholder,
            options: loading.thumbnail(of: image, size: Self.size, scale: view.contentScaleFactor)
        ) { [weak self] result in
            self?.end(result)
        }
    }

    /// Loads the image again.
    func reload() { if let image { show(image) } }

    /// Releases the image, so that a cell that waits for its next one needs no memory.
    func clear() {
        image = nil
        isLoading = false
        view.kf.cancelDownloadTask()
        view.image = nil
    }

    private func end(_ result: Result<RetrieveImageResult, KingfisherError>) {
        switch result {
        case .success(let value):
            isLoading = false
            show(origin: value.cacheType.word, error: nil)
        case .failure(let error):
            // The cell shows another image by now, or none.
            if error.isTaskCancelled || error.isNotCurrentTask { return }
            isLoading = false
            show(origin: loading.isOffline ? "offline" : "failed", error: error)
        }
    }

    private func show(origin text: String, error: KingfisherError?) {
        gtk_label_set_text(origin.opaque, text)
        let lines = [image?.title, error?.localizedDescription].compactMap(\.self)
        gtk_widget_set_tooltip_text(widget, lines.joined(separator: "\n"))
        gtk_widget_set_visible(again, error == nil ? 0 : 1)
        for word in ["network", "memory", "disk", "offline", "failed"] {
            if word == text {
                gtk_widget_add_css_class(origin, word)
            } else {
                gtk_widget_remove_css_class(origin, word)
            }
        }
    }
}
