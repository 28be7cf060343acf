// One cell of the grid, which shows one image after the other.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import Kingfisher
import KingfisherGTK

/// A cell: an image that plays if it is animated, below it its title and where it came from; after a failure a symbol
/// and a button.
@MainActor
final class GridCell: AnimatedImageView {
    /// The least size of the image, in points; the columns of the grid make it wider.
    private static let size: (width: Int32, height: Int32) = (120, 147)

    /// The image and the line below it.
    let box: Widget
    /// Called with the index of the image when it is to be loaded again.
    var onAgain: (@MainActor (Int) -> Void)?

    private let title = Widget.label("caption-title")
    private let symbol = Widget.failureSymbol()
    private let origin = Widget.label("origin")
    private let again: Widget = gtk_button_new_with_label("Try again")
    private var name = ""
    private var index = 0

    override init() {
        box = Widget.box(GTK_ORIENTATION_VERTICAL, spacing: 4)
        super.init()
        contentMode = .scaleAspectFill
        let image = KFGTK.cast(rawWidget, to: GtkWidget.self)
        gtk_widget_set_size_request(image, Self.size.width, Self.size.height)
        gtk_widget_set_overflow(image, GTK_OVERFLOW_HIDDEN)
        gtk_widget_add_css_class(image, "cell-image")
        gtk_label_set_ellipsize(title.opaque, PANGO_ELLIPSIZE_END)
        gtk_label_set_xalign(title.opaque, 0)
        gtk_label_set_max_width_chars(title.opaque, 1)  // as wide as the image, however long it is
        gtk_widget_add_css_class(again, "try-again")
        let caption = Widget.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [origin, again])
        for child in [Widget.overlay(symbol, on: image), title, caption] {
            gtk_box_append(KFGTK.cast(box, to: GtkBox.self), child)
        }
        KFGTK.connect("clicked", of: again) { [weak self] _ in
            guard let self else { return }
            show(.loadingAgain)
            onAgain?(index)
        }
    }

    /// Shows the title of an image, which is loaded from now on.
    func show(_ image: GalleryImage, at index: Int) {
        (name, self.index) = (image.title, index)
        gtk_label_set_text(title.opaque, name.components(separatedBy: .newlines).joined(separator: " "))
        show(.waiting)
    }

    /// Shows how loading the image has ended.
    func show(_ result: Result<RetrieveImageResult, KingfisherError>, isOffline: Bool) {
        switch result {
        case .success(let value): show(.shown(origin: value.origin))
        case .failure(let error): show(.failed(error, origin: isOffline ? "offline" : "failed"))
        }
    }

    /// What has become of the image.
    private enum State {
        case waiting
        /// After a failure: the button stays, and with it the focus.
        case loadingAgain
        case shown(origin: String)
        case failed(KingfisherError, origin: String)

        var origin: String {
            switch self {
            case .waiting, .loadingAgain: ""
            case .shown(let origin), .failed(_, let origin): origin
            }
        }

        var error: KingfisherError? {
            if case .failed(let error, _) = self { error } else { nil }
        }
    }

    private func show(_ state: State) {
        gtk_label_set_text(origin.opaque, state.origin)
        let lines = [name, state.error?.localizedDescription].compactMap(\.self)
        gtk_widget_set_tooltip_text(box, lines.joined(separator: "\n"))
        accessibilityLabel = state.error == nil ? name : "\(name), not loaded"
        gtk_widget_set_visible(symbol, state.error == nil ? 0 : 1)
        showButton(state)
        for word in ["network", "file", "memory", "disk", "offline", "failed"] {
            if word == state.origin {
                gtk_widget_add_css_class(origin, word)
            } else {
                gtk_widget_remove_css_class(origin, word)
            }
        }
    }

    private func showButton(_ state: State) {
        if case .loadingAgain = state { return }
        // The cell takes the focus of a button that goes.
        if state.error == nil, gtk_widget_is_focus(again) != 0 { gtk_widget_grab_focus(gtk_widget_get_parent(box)) }
        gtk_widget_set_visible(again, state.error == nil ? 0 : 1)
    }
}
#endif
