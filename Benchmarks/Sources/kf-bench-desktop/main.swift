// `kf-bench-desktop blocks|memory [empty]`: scrolls a grid of images and prints what that costs; `idle [visible]` counts
// wake-ups for animations that are out of sight. Uses public API only.

import CBaselineGTK
import Foundation
import Kingfisher
import KingfisherGTK

/// The kind of measurement.
enum Work: String { case blocks, memory, idle }

guard let work = CommandLine.arguments.dropFirst().first.flatMap({ Work(rawValue: $0) }) else {
    print("usage: kf-bench-desktop blocks|memory [empty] | idle [visible]")
    exit(2)
}
try KingfisherGTK.initialize()
if work == .idle {
    let idle = try Idle()
    let isInSight = CommandLine.arguments.contains("visible")
    Task { @MainActor in
        print(try await idle.wakeUps(isInSight: isInSight, duration: 10))
        fflush(nil)
        exit(0)
    }
    KFMainLoop.run()
}
let grid = try Grid(count: work == .memory ? 2_000 : 1_000, isEmpty: CommandLine.arguments.contains("empty"))
grid.present()
Task { @MainActor in
    switch work {
    case .idle: break
    case .blocks:
        await grid.scroll(pointsPerFrame: 40, frames: 100)  // what is made once: fonts, caches of GTK
        let blocks = MainThreadBlocks()
        await grid.scroll(pointsPerFrame: 40, frames: 600)
        let times = blocks.stop().sorted()
        print(times[times.count * 99 / 100], times[times.count - 1])
    case .memory:
        await grid.scroll(pointsPerFrame: 40, frames: 50)
        grid.clear()
        let before = residentBytes()
        while !grid.isAtEnd { await grid.scroll(pointsPerFrame: 100, frames: 20) }
        try? await Task.sleep(for: .seconds(1))
        print(residentBytes() - before - Double(Grid.memoryLimit))
    }
    fflush(nil)
    exit(0)
}
KFMainLoop.run()

/// The memory that the process holds, in bytes.
func residentBytes() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return text.split(separator: " ").dropFirst().first.flatMap { Double($0) }.map { $0 * 4096 } ?? 0
}
