// The memory of programs with windows: the default cache's limit, and blocks that go back to the system.

#if canImport(CKFGTK4)
import Foundation
import Glibc
import KFImaging
import Kingfisher
import KingfisherGTK

let memoryChecks = [
    Check(name: "limitOfDefaultCache") { stage in
        let storage = ImageCache.default.memoryStorage
        let first = storage.config.totalCostLimit
        let expected = min(96_000_000, ImageCache.usualMemoryLimit / 2)
        stage.expect(first == expected, "\(first) instead of \(expected) bytes")
        storage.config.totalCostLimit = 200_000_000
        defer { storage.config.totalCostLimit = first }
        try KFGTK.initialize()
        stage.expect(storage.config.totalCostLimit == 200_000_000, "the program's own limit stays")
    },
    Check(name: "freedPixelsGoBack") { stage in
        // 120 kB each: less than what the allocator keeps unless it is told. The small blocks stay between them.
        var bitmaps: [Bitmap] = []
        var small: [UnsafeMutableRawPointer] = []
        for _ in 0..<50 {
            bitmaps.append(
                Bitmap(width: 200, height: 150) { pixels, _ in
                    pixels.initializeMemory(as: UInt8.self, repeating: 1)
                }
            )
            small.append(.allocate(byteCount: 1_000, alignment: 16))
        }
        let during = residentBytes()
        bitmaps = []
        let freed = during - residentBytes()
        stage.expect(freed >= 5_000_000, "\(freed) of \(50 * 200 * 150 * 4) bytes are given back")
        for block in small { block.deallocate() }
    },
]

/// The memory that the process holds.
private func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4_096 } ?? 0
}
#endif
