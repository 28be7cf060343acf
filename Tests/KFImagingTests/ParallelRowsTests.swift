// Rows that are split over the cores: each is visited once, and no work is left when the call returns.

import KFSupport
import Testing

@testable import KFImaging

@Suite struct ParallelRowsTests {
    @Test(
        "Every row is visited once",
        arguments: [(1, 1), (100, 100), (512, 512), (1 << 18, 1), (1, 1 << 18), (600, 1001)]
    )
    func rows(width: Int, height: Int) {
        let visits = Locked([Int](repeating: 0, count: height))
        ParallelRows.forEachBand(of: PixelSize(width, height)) { band in
            visits.withLock { for y in band { $0[y] += 1 } }
        }
        #expect(visits.withLock { $0.allSatisfy { $0 == 1 } })
    }

    @Test("No thread is working when the call returns") func completion() {
        for _ in 0..<200 {
            let active = Locked(0)
            ParallelRows.forEachBand(of: PixelSize(512, 512)) { band in
                active.withLock { $0 += 1 }
                var sum = 0
                for y in band { sum &+= y * y }
                active.withLock { $0 -= sum == .min ? 0 : 1 }
            }
            #expect(active.withLock { $0 } == 0)
        }
    }

    @Test("Calls from within the executor's own threads complete") func nestedCalls() async {
        // As many at once as there are threads, and more: no call may wait for a thread to become free.
        await withTaskGroup(of: Int.self) { tasks in
            for _ in 0..<8 {
                tasks.addTask {
                    await WorkExecutor.cpu.run {
                        let rows = Locked(0)
                        ParallelRows.forEachBand(of: PixelSize(1024, 512)) { band in rows.withLock { $0 += band.count }
                        }
                        return rows.withLock { $0 }
                    }
                }
            }
            for await rows in tasks { #expect(rows == 512) }
        }
    }
}
