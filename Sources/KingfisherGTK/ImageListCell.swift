// One cell of a list of images: its view, and the load for the item that it is bound to. For ImageList.

import CKFGTK4
import Kingfisher

/// A cell that shows one item after the other.
@MainActor
final class ImageListCell {
    enum Phase {
        /// There is no item.
        case unbound
        /// The item's image is to be loaded when the cell can be seen.
        case waiting
        /// A load is under way; it has a number.
        case loading(Int)
        /// There is nothing to be done: the image is there, or the item has none.
        case shown
        /// The load has failed; another is tried when the cell comes into view again.
        case failed
    }

    let view: KFCrossPlatformImageView
    private(set) var phase = Phase.unbound
    /// The list item, which is there until "teardown".
    private let item: OpaquePointer
    private let widget: UnsafeMutablePointer<GtkWidget>
    private var loads = 0
    /// What is shown until the image is there.
    private var placeholder: (any Placeholder)?

    init(_ item: OpaquePointer, _ view: KFCrossPlatformImageView, _ widget: UnsafeMutablePointer<GtkWidget>) {
        (self.item, self.view, self.widget) = (item, view, widget)
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    var isBound: Bool { if case .unbound = phase { false } else { true } }

    /// The index of the item, which changes when others are inserted or removed before it.
    var index: Int { Int(gtk_list_item_get_position(item)) }

    /// Whether the cell is in a window that is on a screen, scrolled out of view or not.
    var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }

    /// Whether the cell can be seen; after a layout.
    var isInView: Bool { isMapped && widget.isInView }

    func bind() { phase = .waiting }

    /// Ends the load, and shows nothing.
    func unbind() {
        guard isBound else { return }
        phase = .unbound
        placeholder = nil
        endLoad()
    }

    /// Shows a placeholder; without one, the cell is as "unbind" has left it.
    func show(_ placeholder: (any Placeholder)?) {
        self.placeholder = placeholder
        if let placeholder { view.kf.setImage(with: nil as Source?, placeholder: placeholder) }
    }

    /// What is shown is to be loaded again.
    func reset() {
        if case .loading = phase { endLoad() }
        phase = .waiting
    }

    /// The cell cannot be seen any more.
    func leaveView() {
        switch phase {
        case .unbound, .waiting, .shown: break
        case .failed: phase = .waiting
        case .loading:
            phase = .waiting
            endLoad()
        }
    }

    /// Loads the image of the item.
    ///
    /// - Parameters:
    ///   - source: Where it is; nil for an item without an image.
    ///   - options: How it is loaded.
    ///   - completion: Called with the result, unless the load is ended before.
    func load(
        _ source: Source?,
        options: KingfisherOptionsInfo?,
        completion: @escaping @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void
    ) {
        guard let source else {
            phase = .shown
            view.kf.setImage(with: nil as Source?, placeholder: placeholder)
            return
        }
        loads += 1
        let number = loads
        phase = .loading(number)
        view.kf.setImage(with: source, placeholder: placeholder, options: options) { [weak self] result in
            guard let self, case .loading(number) = phase else { return }
            phase = .shown
            if case .failure(let error) = result {
                // The program has cancelled the load, or shows something else in the view: that is up to it.
                if error.isTaskCancelled || error.isNotCurrentTask { return }
                phase = .failed
            }
            completion(result)
        }
    }

    /// Ends the load that is under way, if there is one, and shows the placeholder.
    private func endLoad() {
        view.kf.cancelDownloadTask()
        view.kf.setImage(with: nil as Source?, placeholder: placeholder)
    }
}
