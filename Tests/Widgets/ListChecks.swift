// Image lists: which images are loaded, what ends loads, what is shown in cells that are used again.

#if canImport(CKFGTK4)
import CKFGTK4
import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherGTK
import KingfisherTestSupport

let listChecks = [
    Check(name: "listLoadsWhatIsVisible") { stage in
        let network = try await ListNetwork(stage, count: 300)
        let grid = ImageGrid(network.sources, network.options)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { grid.results.count >= 4 }
        await stage.frames(10, of: grid.view)
        stage.expect(grid.bound.count > 20, "\(grid.bound.count) cells are bound")
        let loaded = network.requested.sorted()
        stage.expect((4...6).contains(loaded.count) && loaded == Array(0..<loaded.count), "\(loaded) were loaded")
        stage.expect(!grid.factory.isLoading && grid.factory.view(at: 0)?.image != nil, "the first image is shown")
        // The next ones come when they are to be prefetched, and no others.
        grid.factory.prefetchWindow = 4
        grid.scroll(by: 1)
        await stage.frames(of: grid.view) { network.requested.count >= loaded.count + 4 }
        await stage.frames(10, of: grid.view)
        let all = network.requested.sorted()
        stage.expect(all.count <= loaded.count + 6 && all == Array(0..<all.count), "\(all) were prefetched")
        stage.expect(grid.results.count <= 6, "\(grid.results.count) results for cells out of sight")
    },
    Check(name: "listLoadsVisibleFirst") { stage in
        let network = try await ListNetwork(stage, count: 300)
        network.gate.close()
        network.downloader.maxConnectionsPerHost = 8
        let grid = ImageGrid(network.sources, network.options, prefetching: 40)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { network.requested.count >= 8 }
        // All connections are taken; the visible rows are among them, and those that become visible come next.
        stage.expect(Set(network.requested).isSuperset(of: 0..<4), "\(network.requested) come first")
        await grid.scroll(to: 1, stage)
        await stage.frames(10, of: grid.view)
        network.gate.open()
        await stage.frames(of: grid.view) { grid.successes(299) == 1 }
        stage.expect(grid.successes(299) == 1, "the last row is shown")
        // Before the forty that were to be prefetched.
        stage.expect(network.requested.prefix(24).contains(299), "\(network.requested): 299 comes late")
    },
    Check(name: "listCancelsOnUnbind") { stage in
        let network = try await ListNetwork(stage, count: 4)
        network.gate.close()
        let grid = ImageGrid(network.sources, network.options, prefetching: 20)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { network.requested.count == 4 }
        stage.expect(network.downloader.currentDownloadCount == 4, "four images are under way")
        stage.expect(grid.beyond > 0, "rows beyond the end are asked for")
        grid.shorten(to: 0)
        await stage.frames(of: grid.view) { network.downloader.currentDownloadCount == 0 }
        stage.expect(network.downloader.currentDownloadCount == 0, "no load is left")
        network.gate.open()
        await stage.frames(10, of: grid.view)
        stage.expect(grid.results.isEmpty && grid.views.allSatisfy { $0.image == nil }, "nothing is shown or reported")
    },
    Check(name: "listCancelsOutOfView") { stage in
        let network = try await ListNetwork(stage, count: 40)
        network.gate.close()
        let grid = ImageGrid(network.sources, network.options)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { network.requested.count >= 4 }
        await grid.scroll(to: 1, stage)
        await stage.frames(of: grid.view) { network.requested.contains(39) }
        await stage.frames(of: grid.view) { network.downloader.currentDownloadCount <= 6 }
        stage.expect(network.downloader.currentDownloadCount <= 6, "only those in view are under way")
        network.gate.open()
        await stage.frames(of: grid.view) { grid.successes(39) == 1 }
        stage.expect(grid.factory.view(at: 0)?.image == nil, "a cell out of sight has no image")
        // Back again, its load begins anew.
        await grid.scroll(to: 0, stage)
        await stage.frames(of: grid.view) { grid.successes(0) == 1 }
        stage.expect(grid.successes(0) == 1 && grid.results[0]?.count == 1, "\(grid.results[0] ?? [])")
    },
    Check(name: "listRetriesFailedImages") { stage in
        let network = try await ListNetwork(stage, count: 40)
        let missing = network.server.url("/missing.png")
        network.server.route("/missing.png", .status(404))
        let grid = ImageGrid([.network(missing)] + network.sources, network.options)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { grid.results[0] != nil }
        stage.expect(grid.results[0]?.count == 1 && grid.successes(0) == 0, "the load fails, once")
        network.server.route("/missing.png", .data(try Paint.png(Paint.green)))
        // Out of view, then back again; the image is there.
        grid.scroll(by: 300)
        await stage.frames(4, of: grid.view)
        await grid.scroll(to: 0, stage)
        await stage.frames(of: grid.view) { grid.successes(0) == 1 }
        stage.expect(grid.successes(0) == 1, "tried again in view: \(grid.results[0] ?? [])")
        if let view = grid.factory.view(at: 0) { await stage.expect(view, is: Paint.green) }
        // Asked for, too.
        network.server.route("/missing.png", .status(404))
        grid.factory.options = network.options + [.forceRefresh]
        grid.factory.reload(0)
        await stage.frames(of: grid.view) { grid.results[0]?.count == 3 }
        stage.expect(grid.results[0]?.count == 3 && grid.results[1]?.count == 1, "only the one asked for is reloaded")
    },
    Check(name: "listReusesViews") { stage in
        let network = try await ListNetwork(stage, count: 2_000)
        let grid = ImageGrid(network.sources, network.options)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { grid.results.count >= 4 }
        network.gate.close()
        await grid.scroll(to: 0.5, stage)
        await stage.frames(of: grid.view) { network.requested.contains { $0 > 900 } }
        await stage.frames(4, of: grid.view)
        let visible = (0..<2_000).filter { grid.factory.view(at: $0)?.isOnScreen == true && $0 > 500 }
        stage.expect(!visible.isEmpty, "cells in the middle are on the screen")
        stage.expect(visible.allSatisfy { grid.factory.view(at: $0)?.image == nil }, "a former image is shown")
        network.gate.open()
        await stage.frames(of: grid.view) { !grid.factory.isLoading }
        await grid.scroll(to: 1, stage)
        await stage.frames(of: grid.view) { grid.successes(1_999) == 1 }
        stage.expect(grid.views.count < 1_000, "\(grid.views.count) views for 2,000 images")
        if let view = grid.factory.view(at: 1_999) { await stage.expect(view, is: ListNetwork.color(1_999)) }
    },
    Check(name: "listShortenedWhileLoading") { stage in
        let network = try await ListNetwork(stage, count: 300)
        network.gate.close()
        let grid = ImageGrid(network.sources, network.options, prefetching: 20)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { network.requested.count >= 4 }
        grid.shorten(to: 3)
        await stage.frames(10, of: grid.view)
        network.gate.open()
        await stage.frames(of: grid.view) { grid.results.count == 3 }
        await stage.frames(10, of: grid.view)
        stage.expect(Set(grid.results.keys) == [0, 1, 2], "\(grid.results.keys) were shown")
        if let view = grid.factory.view(at: 2) { await stage.expect(view, is: ListNetwork.color(2)) }
        grid.shorten(to: 0)
        await stage.frames(4, of: grid.view)
        stage.expect(grid.factory.view(at: 0) == nil, "no cell is left")
    },
    Check(name: "listSizedToView") { stage in
        let network = try await ListNetwork(stage, count: 60, side: 512)
        let grid = ImageGrid(network.sources, network.options + [.sizedToView], prefetching: 10)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) {
            network.requested.count >= 14 && network.cache.statistics.memory.entries >= network.requested.count
        }
        guard let view = grid.factory.view(at: 0), let image = view.image else {
            return stage.expect(false, "no image")
        }
        stage.expect(image.pixelWidth < 300, "\(image.pixelWidth) pixels in \(view.bounds)")
        // Prefetched for cells of this size: there in the frame in which they come into view.
        let last = grid.results.keys.max() ?? 0
        grid.scroll(by: 180)
        await stage.frames(2, of: grid.view)
        let next = grid.results.filter { $0.key > last }.values.compactMap { try? $0.first?.get().cacheType }
        stage.expect(!next.isEmpty && next.allSatisfy { $0 == .memory }, "\(next)")
    },
    Check(name: "listOfViewsWithoutSize") { stage in
        let network = try await ListNetwork(stage, count: 50)
        let grid = ImageGrid(network.sources, network.options + [.sizedToView], cellSize: -1, prefetching: 5)
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { grid.successes(0) == 1 }
        stage.expect(grid.successes(0) == 1, "the first image is loaded")
    },
    Check(name: "listPlaceholdersInSight") { stage in
        let network = try await ListNetwork(stage, count: 300)
        network.gate.close()
        let grid = ImageGrid(network.sources, network.options)
        var asked: [Int] = []
        grid.factory.placeholder = { index in
            asked.append(index)
            return Paint.plain(Paint.green)
        }
        await stage.show(grid.view, size: CGSize(width: 220, height: 200))
        await stage.frames(of: grid.view) { network.requested.count >= 4 }
        stage.expect(grid.bound.count > 20, "\(grid.bound.count) cells are bound")
        stage.expect((4...6).contains(asked.count) && Set(asked).count == asked.count, "asked for \(asked)")
        if let view = grid.factory.view(at: 0) { await stage.expect(view, is: Paint.green) }
        // Out of sight and back, while nothing is loaded.
        grid.scroll(by: 300)
        await stage.frames(4, of: grid.view)
        await grid.scroll(to: 0, stage)
        stage.expect(asked.count { $0 == 0 } == 1, "asked again for \(asked)")
        if let view = grid.factory.view(at: 0) { await stage.expect(view, is: Paint.green) }
        network.gate.open()
        await stage.frames(of: grid.view) { grid.successes(0) == 1 }
        if let view = grid.factory.view(at: 0) { await stage.expect(view, is: ListNetwork.color(0)) }
    },
    Check(name: "listInClosedWindow") { stage in
        let network = try await ListNetwork(stage, count: 300)
        let clock = KFCrossPlatformView()
        await stage.show(clock)
        for frames in [0, 1, 3, 9, 20] {
            network.gate.close()
            let grid = ImageGrid(network.sources, network.options + [.forceRefresh], prefetching: 20)
            let window = KFWindow(title: "list", content: grid.view, size: CGSize(width: 220, height: 200))
            window.onClose = {}
            // The last one is closed by a handler of a load.
            grid.factory.onResult = { _, _, _ in window.close() }
            window.present()
            await stage.frames(frames, of: clock)
            // While the server is silent no load ends by itself.
            if frames < 20 { window.close() } else { network.gate.open() }
            await stage.frames(of: clock) { network.downloader.currentDownloadCount == 0 }
            await stage.frames(4, of: clock)
            let left = network.downloader.currentDownloadCount
            stage.expect(left == 0, "closed after \(frames) frames: \(left) loads are left")
            network.gate.open()
        }
    },
    Check(name: "listOfCellsWithMore") { stage in
        let network = try await ListNetwork(stage, count: 6)
        var made: [WeakCell] = []
        var titles: [String] = []
        let factory = ImageListFactory<TitledCell>(options: network.options) {
            let cell = TitledCell()
            made.append(WeakCell(cell: cell))
            return cell
        } bind: { cell, index in
            gtk_label_set_text(cell.title, "title \(index)")
        } source: { index in
            network.sources.indices.contains(index) ? network.sources[index] : nil
        }
        factory.onResult = { cell, _, _ in titles.append(String(cString: gtk_label_get_text(cell.title))) }
        let model: OpaquePointer = gtk_string_list_new(nil)
        for _ in network.sources { gtk_string_list_append(model, "") }
        let list: UnsafeMutablePointer<GtkWidget> = gtk_list_view_new(gtk_no_selection_new(model), nil)
        gtk_list_view_set_factory(OpaquePointer(list), factory.pointer)
        let view = KFWidgetView(UnsafeMutableRawPointer(list))
        await stage.show(view, size: CGSize(width: 100, height: 400))
        await stage.frames(of: view) { titles.count == 6 }
        stage.expect(titles.sorted() == (0..<6).map { "title \($0)" }, "\(titles)")
        if let cell = factory.view(at: 2) { await stage.expect(cell.imageView, is: ListNetwork.color(2)) }
        stage.expect(!made.isEmpty && made.allSatisfy { $0.cell != nil }, "cells are kept")
        stage.closeWindows()
        stage.expect(made.allSatisfy { $0.cell == nil }, "and gone with their list")
    },
    Check(name: "documentedGrid") { stage in
        let (server, _, _) = try await stage.network()
        server.route("/one.png", .data(try Paint.png(Paint.blue)))
        let view = KFWidgetView(UnsafeMutableRawPointer(grid(of: [server.url("/one.png")])))
        await stage.show(view, size: CGSize(width: 240, height: 200))
        await stage.frames(of: view) { stage.color(view) == Paint.blue }
        await stage.expect(view, is: Paint.blue)
    },
    Check(name: "bindToListItem") { stage in
        let network = try await ListNetwork(stage, count: 2)
        network.gate.close()
        let model: OpaquePointer = gtk_string_list_new(nil)
        for _ in 0..<2 { gtk_string_list_append(model, "") }
        let factory: OpaquePointer = gtk_signal_list_item_factory_new()
        var views: [OpaquePointer: KFCrossPlatformImageView] = [:]
        KFGTK.connect("setup", of: UnsafeMutableRawPointer(factory)) { argument in
            guard let item = OpaquePointer(bitPattern: argument) else { return }
            let view = KFCrossPlatformImageView()
            views[item] = view
            gtk_list_item_set_child(item, view.rawWidget.assumingMemoryBound(to: GtkWidget.self))
        }
        KFGTK.connect("bind", of: UnsafeMutableRawPointer(factory)) { argument in
            guard let item = OpaquePointer(bitPattern: argument), let view = views[item] else { return }
            view.kf.setImage(
                with: network.sources[Int(gtk_list_item_get_position(item))],
                options: network.options
            )
            view.kf.bind(to: item)
        }
        g_object_ref(UnsafeMutableRawPointer(model))
        defer { g_object_unref(UnsafeMutableRawPointer(model)) }
        let list = KFWidgetView(UnsafeMutableRawPointer(gtk_list_view_new(gtk_no_selection_new(model), factory)))
        await stage.show(list)
        await stage.frames(of: list) { network.requested.count == 2 }
        stage.expect(network.downloader.currentDownloadCount == 2, "both are loaded")
        gtk_string_list_splice(model, 1, 1, nil)
        await stage.frames(of: list) { network.downloader.currentDownloadCount == 1 }
        stage.expect(network.downloader.currentDownloadCount == 1, "the one that was removed is cancelled")
        network.gate.open()
        await stage.frames(of: list) { views.values.contains { $0.image != nil } }
        stage.expect(views.values.count { $0.image != nil } == 1, "the other is shown")
        // The item at the same place is replaced: its view is bound again, and the load for it is not ended.
        network.gate.close()
        gtk_string_list_splice(model, 0, 1, nil)
        await stage.frames(of: list)
        stage.expect(views.values.allSatisfy { $0.image == nil }, "no image without an item")
        gtk_string_list_append(model, "")
        await stage.frames(of: list) { views.values.contains { $0.image != nil } }
        stage.expect(views.values.contains { $0.image != nil }, "the next item is shown")
    },
]

/// A cell that is no view.
private final class TitledCell: ImageListContent {
    let imageView = KFCrossPlatformImageView()
    let title: OpaquePointer = .init(gtk_label_new(nil))
    let widget: OpaquePointer = .init(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))

    init() {
        imageView.fixedSize = CGSize(width: 30, height: 20)
        for child in [imageView.widget, title] { gtk_box_append(.init(widget), .init(child)) }
    }
}

private struct WeakCell { weak var cell: TitledCell? }

/// A server with numbered images of one colour each, which it may hold back.
@MainActor
struct ListNetwork {
    let server: TestServer
    let options: KingfisherOptionsInfo
    let sources: [Source]
    let cache: ImageCache
    let downloader: ImageDownloader
    let gate: ListGate

    init(_ stage: Stage, count: Int, side: Int = 20) async throws {
        let (server, options, cache) = try await stage.network()
        let (downloader, gate) = (ImageDownloader(name: "list"), ListGate())
        for number in 0..<count {
            let data = try Paint.png(Self.color(number), width: side, height: side)
            server.route("/\(number).png") { _ in
                await gate.wait()
                return .data(data)
            }
        }
        (self.server, self.cache, self.downloader, self.gate) = (server, cache, downloader, gate)
        self.options = options + [.targetCache(cache), .downloader(downloader)]
        sources = (0..<count).map { .network(server.url("/\($0).png")) }
    }

    static func color(_ number: Int) -> UInt32 { UInt32(number) << 8 | 0x40 }

    /// The numbers of the requested images, in the order in which requests arrived.
    var requested: [Int] { server.requests.compactMap { Int($0.path.dropFirst().dropLast(4)) } }
}

/// A gate that may be closed and opened again.
final class ListGate: Sendable {
    private let current = Locked<Gate?>(nil)

    func close() { current.withLock { $0 = Gate() } }

    func open() {
        let gate = current.withLock { current in
            defer { current = nil }
            return current
        }
        gate?.open()
    }

    func wait() async { await current.withLock { $0 }?.wait() }
}
#endif
