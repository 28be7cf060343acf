// `kf-bench-desktop WORK …`: scrolls a grid of images and prints what that costs, or counts the wake-ups for animations
// that are out of sight. Uses public API only.

import CBaselineGTK
import Foundation
import Kingfisher
import KingfisherGTK

/// The kind of measurement, with its arguments.
enum Work {
    case blocks(isEmpty: Bool)
    case memory
    /// Images of a server: which cells are blank while the grid is scrolled, and the main thread's time.
    case network(URL, Filling)
    /// Images of a server, each seen once: the memory of the process, with a limit of the cache in bytes, 0 for
    /// that of the default cache.
    case sized(URL, limit: Int)
    /// Files of a folder: the time until the first screen shows all of its images.
    case folder(URL)
    /// Animations that are out of sight, or in it: how often the process wakes up in ten seconds.
    case idle(isInSight: Bool)

    init?(_ arguments: [String]) {
        switch (arguments.first, arguments.count) {
        case ("blocks", 1): self = .blocks(isEmpty: false)
        case ("blocks", 2) where arguments[1] == "empty": self = .blocks(isEmpty: true)
        case ("memory", 1): self = .memory
        case ("network", 3):
            guard let url = URL(string: arguments[1]), let filling = Filling(rawValue: arguments[2]) else { return nil }
            self = .network(url, filling)
        case ("sized", 3):
            guard let url = URL(string: arguments[1]), let limit = Int(arguments[2]) else { return nil }
            self = .sized(url, limit: limit)
        case ("folder", 2): self = .folder(URL(fileURLWithPath: arguments[1]))
        case ("idle", 1): self = .idle(isInSight: false)
        case ("idle", 2) where arguments[1] == "visible": self = .idle(isInSight: true)
        default: return nil
        }
    }

    @MainActor
    func run() async throws {
        switch self {
        case .blocks(let isEmpty): try await measureBlocks(isEmpty: isEmpty)
        case .memory: try await measureMemory()
        case .network(let url, let filling): try await measureNetwork(url, filling)
        case .sized(let url, let limit): try await measureSized(url, limit: limit)
        case .folder(let folder): try await measureFolder(folder)
        case .idle(let isInSight): print(try await Idle().wakeUps(isInSight: isInSight, duration: 10))
        }
    }
}

guard let work = Work(Array(CommandLine.arguments.dropFirst())) else {
    print(
        "usage: kf-bench-desktop blocks [empty] | memory | network URL factory|plain | sized URL LIMIT | folder PATH\n"
            + "       | idle [visible]"
    )
    exit(2)
}
try KingfisherGTK.initialize()
Task { @MainActor in
    do { try await work.run() } catch {
        print(error)
        exit(1)
    }
    fflush(nil)
    exit(0)
}
KFMainLoop.run()

@MainActor
func measureBlocks(isEmpty: Bool) async throws {
    let grid = try Grid(count: 1_000, isEmpty: isEmpty)
    grid.present()
    await grid.scroll(pointsPerFrame: 40, frames: 100)  // what is made once: fonts, caches of GTK
    let blocks = MainThreadBlocks()
    await grid.scroll(pointsPerFrame: 40, frames: 600)
    let times = blocks.stop().sorted()
    print(times[times.count * 99 / 100], times[times.count - 1])
}

@MainActor
func measureMemory() async throws {
    let grid = try Grid(count: 2_000, isEmpty: false)
    grid.present()
    await grid.scroll(pointsPerFrame: 40, frames: 50)
    grid.clear()
    let before = residentBytes()
    while !grid.isAtEnd { await grid.scroll(pointsPerFrame: 100, frames: 20) }
    try? await Task.sleep(for: .seconds(1))
    print(residentBytes() - before - Double(Grid.memoryLimit))
}

@MainActor
func measureNetwork(_ url: URL, _ filling: Filling) async throws {
    let grid = try NetworkGrid(of: url, count: 2_000, filling: filling, size: (120, 90), columns: 5)
    defer { grid.removeFiles() }
    grid.present()
    await grid.nextFrame()
    let log = ScrollLog()
    grid.onFrame { log.add(grid.visible) }
    // What is made once, and the first images.
    for _ in 0..<90 { await grid.nextFrame() }
    log.isOn = true
    while !grid.isAtEnd {
        await grid.nextFrame()
        grid.scroll(by: 40)
    }
    print(log.blankPart, log.cost, log.usualCost)
}

@MainActor
func measureSized(_ url: URL, limit: Int) async throws {
    let grid = try NetworkGrid(of: url, count: 2_000, filling: .factory, size: (200, 150), columns: 5)
    defer { grid.removeFiles() }
    let usual = ImageCache.default.memoryStorage.config.totalCostLimit
    grid.cache.memoryStorage.config.totalCostLimit = limit > 0 ? limit : usual
    grid.present()
    // Before the first layout there are no cells, and no end.
    while grid.visible.all == 0 { await grid.nextFrame() }
    while !grid.isAtEnd || grid.visible.blank > 0 {
        await grid.nextFrame()
        // The next row when this one has come.
        if grid.visible.blank == 0 { grid.scroll(by: 150) }
    }
    print(residentBytes())
}

/// Prints the seconds from when the window is presented, the number of images, and whether it was drawn before them.
@MainActor
func measureFolder(_ folder: URL) async throws {
    let grid = try NetworkGrid(of: folder, count: 1_000, filling: .factory, size: (200, 150), columns: 5)
    defer { grid.removeFiles() }
    let start = ContinuousClock.now
    grid.present()
    await grid.nextFrame()
    while grid.visible.all == 0 { await grid.nextFrame() }
    let wasDrawnFirst = grid.visible.blank == grid.visible.all
    while grid.visible.blank > 0 { await grid.nextFrame() }
    let time = ContinuousClock.now - start
    print(time / .seconds(1), grid.visible.all, wasDrawnFirst ? 1 : 0)
}

/// The memory that the process holds, in bytes.
func residentBytes() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return text.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 * 4096 } ?? 0
}
