// Memory that the process gives back to the system after images were removed.

import Foundation
import Glibc
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct MemoryReleaseTests {
    /// The memory the process holds, in megabytes.
    private static var resident: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii))?.split(separator: " ")
        return (pages.flatMap { Int($0[1]) } ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / (1 << 20)
    }

    @Test("Clearing memory gives it back to the system")
    func clearing() async {
        // A process of its own, whose memory is used for nothing else.
        await #expect(processExitsWith: .success) {
            try await withCache { cache in
                cache.memoryStorage.config = .init(totalCostLimit: 0)
                // After a block of this size was freed, the allocator does not return smaller ones by itself.
                let large = try #require(malloc(31 << 20))
                memset(large, 1, 31 << 20)
                free(large)
                let small = SampleImage.gradient().kf.resize(to: CGSize(width: 1024, height: 512))
                let data = try #require(small.pngData())
                let start = Self.resident
                for number in 0..<150 {
                    let image = try #require(Image(data: data))
                    cache.memoryStorage.store(value: image, forKey: "\(number)")
                }
                #expect(Self.resident > start + 290)
                cache.clearMemoryCache()
                try await until("the memory is given back, in the background") { Self.resident <= start + 60 }
            }
        }
    }
}
