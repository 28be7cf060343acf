// The cells of one list of images: which of them load, and when. For ImageListFactory; GTK's factory keeps it.

#if canImport(CKFGTK4)
import CKFGTK4
import Kingfisher

/// The cells of a list, from "setup" to "teardown".
@MainActor
final class ImageList<Cell: ImageListContent> {
    var options: KingfisherOptionsInfo? { didSet { prefetching.options = options } }
    var cell: (@MainActor (Cell) -> OpaquePointer)?
    var placeholder: (@MainActor (Int) -> (any Placeholder)?)?
    var onResult: (@MainActor (Cell, Int, Result<RetrieveImageResult, KingfisherError>) -> Void)?
    let prefetching: ListPrefetching

    private let manager: KingfisherManager
    private let makeCell: @MainActor () -> Cell
    private let bind: (@MainActor (Cell, Int) -> Void)?
    private let source: @MainActor (Int) -> Source?
    /// The cells by list item.
    private var cells: [OpaquePointer: ImageListCell<Cell>] = [:]
    private let layouts = LayoutSignal()

    init(
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        view: @escaping @MainActor () -> Cell,
        bind: (@MainActor (Cell, Int) -> Void)?,
        source: @escaping @MainActor (Int) -> Source?
    ) {
        (self.options, self.manager, makeCell, self.bind, self.source) = (options, manager, view, bind, source)
        prefetching = ListPrefetching(options: options, manager: manager, source: source)
        layouts.onLayout = { [weak self] in self?.update() }
    }

    /// Connects the list to its factory, a `GtkSignalListItemFactory *`, which keeps it from now on.
    func connect(to factory: UnsafeMutableRawPointer) {
        func connect(_ signal: String, _ block: @escaping @MainActor (OpaquePointer) -> Void) {
            KFGTK.connect(signal, of: factory) { argument in OpaquePointer(bitPattern: argument).map(block) }
        }
        connect("setup") { self.setUp($0) }
        connect("bind") { self.bind($0) }
        connect("unbind") { self.cells[$0]?.unbind() }
        connect("teardown") { item in
            self.cells.removeValue(forKey: item)?.unbind()
            gtk_list_item_set_child(item, nil)
        }
    }

    /// Ends prefetching when no cell is on a screen: a list whose window is closed is not laid out again.
    private func endIfHidden() {
        if !cells.values.contains(where: \.isMapped) { prefetching.show(nil, like: nil) }
    }

    private func setUp(_ item: OpaquePointer) {
        let content = makeCell()
        (WidgetRenderer.of(content.imageView) as? ImageRenderer)?.isInList = true
        let widget = UnsafeMutablePointer<GtkWidget>(cell?(content) ?? content.widget)
        cells[item] = ImageListCell(item, content, widget)
        KFGTK.connect("map", of: UnsafeMutableRawPointer(widget)) { [weak self] _ in
            self?.layouts.watch(widget)
        }
        KFGTK.connect("unmap", of: UnsafeMutableRawPointer(widget)) { [weak self] _ in self?.endIfHidden() }
        gtk_list_item_set_child(item, widget)
    }

    private func bind(_ item: OpaquePointer) {
        guard let cell = cells[item] else { return }
        cell.bind()
        let index = cell.index
        bind?(cell.content, index)
        prefetching.listDidChange()
    }

    func reload(_ index: Int?) {
        for cell in cells.values where cell.isBound && (index == nil || cell.index == index) { cell.reset() }
        prefetching.listDidChange()
        update()
    }

    func content(at index: Int) -> Cell? {
        cells.values.first { $0.isBound && $0.index == index }?.content
    }

    var isLoading: Bool {
        cells.values.contains { $0.isLoading || ($0.isWaiting && $0.isInView) }
    }

    /// Begins and ends loads after a layout, when it is known which cells can be seen, and before they are drawn.
    ///
    /// This runs in every frame of a list that is scrolled, for some 200 cells.
    private func update() {
        var (rows, view) = (Range<Int>?.none, KFCrossPlatformImageView?.none)
        var waiting: [(index: Int, cell: ImageListCell<Cell>)] = []
        for cell in cells.values where cell.isBound {
            guard cell.isInView else {
                cell.leaveView()
                continue
            }
            let index = cell.index
            rows = min(rows?.lowerBound ?? index, index)..<max(rows?.upperBound ?? 0, index + 1)
            view = view ?? cell.view
            if cell.isWaiting { waiting.append((index, cell)) }
        }
        for (_, cell) in waiting.sorted(by: { $0.index < $1.index }) { load(cell) }
        prefetching.show(rows, like: view)
    }

    private func load(_ cell: ImageListCell<Cell>) {
        guard cell.isWaiting else { return }
        if !cell.hasPlaceholder { cell.setPlaceholder(placeholder?(cell.index)) }
        // The program may have changed the list in the meantime.
        guard cell.isWaiting else { return }
        cell.load(source(cell.index), options: options, manager: manager) { [weak self, weak cell] result in
            guard let self, let cell else { return }
            onResult?(cell.content, cell.index, result)
        }
    }
}
#endif
