// The behaviour of the fakes that tests rely on.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

struct FakeTransportTests {
    private let request = URLRequest(url: URL(fileURLWithPath: "/fake"))

    @Test("A fake transfer can complete inside `start`") func completesInsideStart() {
        let transport = FakeTransport { $0.play(.data(Data([1, 2, 3])).with { $0.pieceSize = 2 }) }
        let client = Client()
        _ = transport.start(request, policy: TransportPolicy(), events: client)
        #expect(client.isOver)
        #expect(client.soFar.body == Data([1, 2, 3]))
        #expect(client.soFar.pieces == 2)
        #expect(client.soFar.status == 200)
        #expect(client.soFar.hasMetrics)
        #expect(transport.startCount == 1)
        #expect(transport.cancelCount == 0)
    }

    @Test("A test can play a fake transfer step by step") func playedByHand() {
        let transport = FakeTransport { _ in }
        let client = Client()
        _ = transport.start(request, policy: TransportPolicy(), events: client)
        #expect(!client.isOver)
        transport.transfers[0].send(Data([9]))
        transport.transfers[0].complete(TransportError(.timedOut, "slow"))
        #expect(client.soFar.body == Data([9]))
        #expect(client.soFar.error?.code == .timedOut)
    }

    @Test("Cancelling a fake transfer is counted, and completes it once") func cancelling() {
        let transport = FakeTransport { _ in }
        let client = Client()
        let task = transport.start(request, policy: TransportPolicy(), events: client)
        task.cancel()
        task.cancel()
        #expect(transport.cancelCount == 1)
        #expect(client.soFar.error?.code == .cancelled)
    }

    @Test("Invalidating a fake transport cancels its transfers and refuses later ones") func invalidating() {
        let transport = FakeTransport { _ in }
        let running = Client()
        let late = Client()
        _ = transport.start(request, policy: TransportPolicy(), events: running)
        transport.invalidate()
        _ = transport.start(request, policy: TransportPolicy(), events: late)
        #expect(running.soFar.error?.code == .cancelled)
        #expect(late.soFar.error?.code == .cancelled)
    }
}

struct ManualClockTests {
    @Test("Sleepers wake when the clock has been moved far enough") func wakesSleepers() async throws {
        let clock = ManualClock()
        let short = Task { try await clock.sleep(for: .seconds(1)) }
        let long = Task { try await clock.sleep(for: .seconds(3)) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        try await short.value
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await long.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("A deadline in the past does not sleep") func pastDeadline() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: clock.now)
    }

    @Test("Cancelling wakes the sleeper") func cancelledSleeper() async {
        let clock = ManualClock()
        let sleeping = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers()
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
    }

    @Test("A task that was cancelled does not fall asleep") func cancelledBeforeSleep() async {
        let clock = ManualClock()
        let gate = Gate()
        let sleeping = Task {
            await gate.wait()
            try await clock.sleep(for: .seconds(1))
        }
        sleeping.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
    }
}
