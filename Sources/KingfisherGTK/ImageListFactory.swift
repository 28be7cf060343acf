// A factory of list items that show images, for programs with a grid, a list or a column of them.

#if canImport(CKFGTK4)
import CKFGTK4
import Dispatch
public import Kingfisher

/// Makes the cells of a list of images, and loads what they show. (Not in Kingfisher.)
///
///     let factory = ImageListFactory(options: [.sizedToView]) { index in
///         urls.indices.contains(index) ? .network(urls[index]) : nil
///     }
///     gtk_grid_view_set_factory(grid, factory.pointer)
///
/// A cell is an image view, or an object of yours with an image view and more around it: any ``ImageListContent``,
/// whose type the functions get.
///
/// GTK fills some 200 cells for 12 that can be seen. **An image is loaded while its cell can be seen**, and the next
/// ones, ``prefetchWindow``, in the direction in which the list is scrolled: with low priority until their cells come
/// into view, in cells of the same size. Any other load ends: one that has not begun its download does not begin it,
/// and a download that is under way is cancelled unless something else wants it. A cell keeps its image while it is
/// bound; it shows none, and no image of another item, once it is used for the next item. A load that failed is tried
/// again when its cell comes into view again, or is bound again. What is in memory is shown in the frame in which its
/// cell comes into view.
///
/// GTK keeps the factory as long as a list uses it, so that a program needs no variable for this object. The factory
/// keeps its closures: have them capture weakly what owns the list. Each list needs a factory of its own; so does each
/// column of a `GtkColumnView`. All of it belongs to the main thread, and all functions are called there.
@MainActor
public final class ImageListFactory<Cell: ImageListContent> {
    /// The `GtkListItemFactory *`, for `gtk_grid_view_set_factory`, `gtk_list_view_set_factory` and
    /// `gtk_column_view_column_set_factory`.
    ///
    /// These take a reference of their own. Functions that take over the caller's, such as `gtk_grid_view_new`, need
    /// one that they can have: `g_object_ref` first. This object releases the one it has when it is gone, in the main
    /// loop's next turn.
    public let pointer: OpaquePointer
    private let list: ImageList<Cell>

    /// Creates a factory for one list.
    ///
    /// - Parameters:
    ///   - options: How images are loaded, processed and shown; they come after those of the manager. With
    ///     `sizedToView` images are decoded at the size of their cells.
    ///   - manager: Loads them.
    ///   - view: Makes a cell, an image view or what there is around one, as often as GTK needs another. Give it a
    ///     size: cells without a size could all be seen at the same time.
    ///   - bind: Called when a cell is to show another item, before its image is loaded: for labels around the view,
    ///     and for its accessible name.
    ///   - source: Returns the source of the item at an index; nil for an item without an image, and **beyond the end
    ///     of the list**. If the list's model and the data of this function are two things, change the data first: the
    ///     images of cells that stay bound are not asked for again.
    public convenience init(
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        view: @escaping @MainActor () -> Cell,
        bind: (@MainActor (_ cell: Cell, _ index: Int) -> Void)? = nil,
        source: @escaping @MainActor (_ index: Int) -> Source?
    ) {
        self.init(ImageList(options: options, manager: manager, view: view, bind: bind, source: source))
    }

    private init(_ list: ImageList<Cell>) {
        self.list = list
        pointer = gtk_signal_list_item_factory_new()
        list.connect(to: UnsafeMutableRawPointer(pointer))
    }

    // Not at once: the object of `ImageListFactory { … }.pointer` is gone before the pointer is used.
    isolated deinit {
        let address = UInt(bitPattern: pointer)
        DispatchQueue.main.async { g_object_unref(UnsafeMutableRawPointer(bitPattern: address)) }
    }

    /// The options of loads that begin from now on.
    public var options: KingfisherOptionsInfo? {
        get { list.options }
        set { list.options = newValue }
    }

    /// How many images are prefetched beyond those that can be seen, from 0 to 1,000; 40 at first.
    public var prefetchWindow: Int {
        get { list.prefetching.window }
        set { list.prefetching.window = newValue }
    }

    /// Makes the widget of a cell, a `GtkWidget *`, around the one that it has.
    ///
    /// Nil, as at first, means that one. To be set before a list uses the factory.
    public var cell: (@MainActor (Cell) -> OpaquePointer)? {
        get { list.cell }
        set { list.cell = newValue }
    }

    /// Returns what the item at an index shows until its image is there; nil, as at first, means nothing.
    ///
    /// Asked when the item's cell can be seen, not for the many that GTK fills beside it.
    public var placeholder: (@MainActor (_ index: Int) -> (any Placeholder)?)? {
        get { list.placeholder }
        set { list.placeholder = newValue }
    }

    /// Called when the image of an item is shown, or its load has failed.
    ///
    /// Not called for loads that end because their cells are out of sight, or show another item.
    public var onResult:
        (
            @MainActor (
                _ cell: Cell, _ index: Int, _ result: Result<RetrieveImageResult, KingfisherError>
            ) -> Void
        )?
    {
        get { list.onResult }
        set { list.onResult = newValue }
    }

    /// Loads images again, those of cells in view at once: all of them, or only that of the item at an index.
    ///
    /// - Parameter index: The index of an item; nil for all items.
    public func reload(_ index: Int? = nil) { list.reload(index) }

    /// The cell that shows the item at an index, as the program has made it; nil when none does.
    public func view(at index: Int) -> Cell? { list.content(at: index) }

    /// Whether an image is loaded for a cell in view.
    public var isLoading: Bool { list.isLoading }
}

extension ImageListFactory where Cell == KFCrossPlatformImageView {
    /// Creates a factory for one list, whose cells are image views.
    ///
    /// - Parameters:
    ///   - options: How images are loaded, processed and shown; they come after those of the manager.
    ///   - manager: Loads them.
    ///   - view: Makes the view of a cell; see the other initialiser, as for what follows.
    ///   - bind: Called when a view is to show another item, before its image is loaded.
    ///   - source: Returns the source of the item at an index; nil for an item without an image, and **beyond the end
    ///     of the list**.
    public convenience init(
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        view: @escaping @MainActor () -> KFCrossPlatformImageView = { KFCrossPlatformImageView() },
        bind: (@MainActor (_ view: KFCrossPlatformImageView, _ index: Int) -> Void)? = nil,
        source: @escaping @MainActor (_ index: Int) -> Source?
    ) {
        self.init(ImageList(options: options, manager: manager, view: view, bind: bind, source: source))
    }
}
#endif
