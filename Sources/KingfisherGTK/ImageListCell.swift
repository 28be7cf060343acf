// One cell of a list of images: its view, and the load for the item that it is bound to. For ImageList.

#if canImport(CKFGTK4)
import CKFGTK4
import Kingfisher

/// A cell that shows one item after the other.
@MainActor
final class ImageListCell<Content: ImageListContent> {
    /// The content that the program has made for the cell.
    let content: Content
    let view: KFCrossPlatformImageView
    /// Whether there is an item.
    private(set) var isBound = false
    /// Done when the image is there, or the item has none.
    private var load = LoadWhileVisible()
    /// The list item, which is there until "teardown".
    private let item: OpaquePointer
    private let widget: UnsafeMutablePointer<GtkWidget>
    /// The placeholder that is shown until the image is there, made when the cell of an item can be seen first.
    private var placeholder: (any Placeholder)?
    /// Whether the placeholder of the item is known; it may be nil.
    private(set) var hasPlaceholder = false

    init(_ item: OpaquePointer, _ content: Content, _ widget: UnsafeMutablePointer<GtkWidget>) {
        (self.item, self.content, view, self.widget) = (item, content, content.imageView, widget)
        g_object_ref_sink(UnsafeMutableRawPointer(widget))
    }

    isolated deinit { g_object_unref(UnsafeMutableRawPointer(widget)) }

    /// The index of the item, which changes when others are inserted or removed before it.
    var index: Int { Int(gtk_list_item_get_position(item)) }

    /// Whether the cell is in a window that is on a screen, scrolled out of view or not.
    var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }

    /// Whether the cell can be seen; after a layout.
    var isInView: Bool { isMapped && widget.isInView }

    /// Whether an image is to be loaded when the cell can be seen.
    var isWaiting: Bool { isBound && load.phase == .waiting }

    /// Whether a load is under way.
    var isLoading: Bool { load.isLoading }

    func bind() {
        isBound = true
        _ = load.reset()
    }

    /// Ends the load, and shows nothing.
    func unbind() {
        guard isBound else { return }
        (isBound, placeholder, hasPlaceholder) = (false, nil, false)
        _ = load.reset()
        endLoad()
    }

    /// Sets what the load that follows shows until the image is there.
    func setPlaceholder(_ placeholder: (any Placeholder)?) { (self.placeholder, hasPlaceholder) = (placeholder, true) }

    /// The image that is shown is to be loaded again.
    func reset() {
        if load.reset() { endLoad() }
    }

    /// The cell cannot be seen any more.
    func leaveView() {
        if load.leave() { endLoad() }
    }

    /// Loads the image of the item.
    ///
    /// - Parameters:
    ///   - source: Where it is; nil for an item without an image.
    ///   - options: How it is loaded.
    ///   - manager: Loads it.
    ///   - completion: Called with the result, unless the load is ended before.
    func load(
        _ source: Source?,
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        completion: @escaping @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void
    ) {
        guard let source else {
            load.finish()
            view.kf.setImage(with: nil as Source?, placeholder: placeholder)
            return
        }
        let number = load.begin()
        view.kf.setImage(with: source, placeholder: placeholder, options: options, manager: manager) {
            [weak self] result in
            var (isFailed, isReplaced) = (false, false)
            if case .failure(let error) = result {
                // The program has cancelled the load, or shows something else in the view: that is up to it.
                isReplaced = error.isTaskCancelled || error.isNotCurrentTask
                isFailed = !isReplaced
            }
            guard let self, load.end(number, isFailed: isFailed), !isReplaced else { return }
            completion(result)
        }
    }

    /// Ends the load that is under way, if there is one, and shows the placeholder.
    private func endLoad() {
        view.kf.cancelDownloadTask()
        view.kf.setImage(with: nil as Source?, placeholder: placeholder)
    }
}
#endif
