// One cell of the grid, which shows one image after the other.

import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A cell: an image that plays if it is animated, below it its title and where it came from, and a button after a
/// failure.
@MainActor
final class GridCell: AnimatedImageView {
    /// The size of the image, in points; wider cells make it wider.
    private static let size: (width: Int32, height: Int32) = (196, 147)

    /// The image and what is below it.
    let box: Widget
    /// Called with the index of the image when it is to be loaded again.
    var onAgain: (@MainActor (Int) -> Void)?

    private let title = Widget.label("caption-title")
    private let origin = Widget.label("origin")
    private let again: Widget = gtk_button_new_with_label("Try again")
    private var name = ""
    private var index = 0

    override init() {
        box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
        super.init()
        contentMode = .scaleAspectFill
        let image = Widget(widget)
        gtk_widget_set_size_request(image, Self.size.width, Self.size.height)
        gtk_widget_set_overflow(image, GTK_OVERFLOW_HIDDEN)
        gtk_widget_add_css_class(image, "cell-image")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(title.opaque, 0)
        gtk_label_set_max_width_chars(title.opaque, 1)  // as wide as the image, however long it is
        gtk_widget_add_css_class(again, "try-again")
        let caption = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [origin, again])
        for child in [image, title, caption] { gtk_box_append(box.as(GtkBox.self), child) }
        connectSignal("clicked", of: again) { [weak self] _ in
            guard let self else { return }
            show(origin: "", error: nil)
            onAgain?(index)
        }
    }

    /// Shows the title of an image, which is loaded from now on.
    func show(_ image: GalleryImage, at index: Int) {
        (name, self.index) = (image.title, index)
        gtk_label_set_text(title.opaque, name)
        accessibilityLabel = name
        show(origin: "", error: nil)
    }

    /// Shows how loading the image has ended.
    func show(_ result: Result<RetrieveImageResult, KingfisherError>, isOffline: Bool) {
        switch result {
        case .success(let value): show(origin: value.origin, error: nil)
        case .failure(let error): show(origin: isOffline ? "offline" : "failed", error: error)
        }
    }

    private func show(origin text: String, error: KingfisherError?) {
        gtk_label_set_text(origin.opaque, text)
        let lines = [name, error?.localizedDescription].compactMap(\.self)
        gtk_widget_set_tooltip_text(box, lines.joined(separator: "\n"))
        gtk_widget_set_visible(again, error == nil ? 0 : 1)
        for word in ["network", "file", "memory", "disk", "offline", "failed"] {
            if word == text {
                gtk_widget_add_css_class(origin, word)
            } else {
                gtk_widget_remove_css_class(origin, word)
            }
        }
    }
}
