// The cache janitor: the times at which it removes expired entries.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CacheJanitorTests {
    private let clock = ManualClock()

    /// Sweeps that signal their start, and end when the test opens a gate.
    private final class Sweeps: Sendable {
        let count = Counter()
        let begun = [Gate(), Gate(), Gate()]
        let mayEnd = [Gate(), Gate(), Gate()]

        func sweep() async {
            let number = min(count.add(), 3) - 1
            begun[number].open()
            await mayEnd[number].wait()
        }
    }

    @Test("The first sweep comes early, the others about an interval apart", arguments: [(0.0, 5, 90), (1.0, 25, 110)])
    func sweepTimes(chance: Double, first: Int, others: Int) async {
        let sweeps = Sweeps()
        for gate in sweeps.mayEnd { gate.open() }
        let janitor = CacheJanitor(interval: 100, clock: clock) { chance }
        janitor.start(sweeps.sweep)
        for (number, pause) in [first, others, others].enumerated() {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(clock.sleeperCount == 1)
            #expect(sweeps.count.value == number)
            clock.advance(by: .milliseconds(2))
            await sweeps.begun[number].wait()
        }
        #expect(janitor.interval == 100)
    }

    @Test(
        "The janitor never sweeps with a zero, negative or non-finite interval",
        arguments: [0, -1, TimeInterval.infinity, .nan]
    )
    func neverSweeping(interval: TimeInterval) async {
        let sweeps = Sweeps()
        let janitor = CacheJanitor(interval: interval, clock: clock) { 0 }
        janitor.start(sweeps.sweep)
        #expect(!janitor.isSweepingNowAndThen)
        janitor.interval = 100
        await clock.waitForSleepers()
        janitor.interval = interval
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(!janitor.isSweepingNowAndThen)
    }

    @Test("A new interval begins with its assignment") func intervalChange() async {
        let sweeps = Sweeps()
        let janitor = CacheJanitor(interval: 1000, clock: clock) { 0 }
        janitor.start(sweeps.sweep)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(49))
        janitor.interval = 20
        while clock.sleeperCount != 1 { await Task.yield() }
        clock.advance(by: .seconds(1))
        await sweeps.begun[0].wait()
    }

    @Test("Two sweeps never overlap") func noOverlappingSweeps() async {
        let sweeps = Sweeps()
        for gate in sweeps.mayEnd.dropFirst() { gate.open() }
        let janitor = CacheJanitor(interval: 100, clock: clock) { 0 }
        janitor.start(sweeps.sweep)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        await sweeps.begun[0].wait()

        janitor.interval = 200
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        #expect(sweeps.count.value == 1, "The second does not begin before the first has ended.")

        sweeps.mayEnd[0].open()
        await sweeps.begun[1].wait()
    }

    @Test("A deinitialised janitor does not sweep") func deinitialized() async {
        var janitor: CacheJanitor? = CacheJanitor(interval: 100, clock: clock) { 0 }
        janitor?.start {}
        await clock.waitForSleepers()
        janitor = nil
        while clock.sleeperCount > 0 { await Task.yield() }
    }
}
