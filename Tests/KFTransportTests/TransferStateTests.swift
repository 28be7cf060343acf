// When a transfer has waited long enough, decided on made-up instants.

import Foundation
import NIOHTTP1
import Testing

@testable import KFTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct TransferStateTests {
    private let begin = ContinuousClock.now
    private var state: TransferState
    private let policy = TransportPolicy(connectTimeout: 5, idleTimeout: 10, totalTimeout: 60)

    init() {
        state = TransferState(request: URLRequest(url: URL(fileURLWithPath: "/a")), events: Recorder(), at: begin)
    }

    private func outcome(after seconds: Double, _ policy: TransportPolicy? = nil) -> String {
        switch state.patience(policy ?? self.policy, at: begin + .seconds(seconds)) {
        case .none: "none"
        case .exhausted: "exhausted"
        case .until: "patient"
        }
    }

    @Test func connectingHasItsOwnLimit() {
        #expect(outcome(after: 4) == "patient")
        #expect(outcome(after: 6) == "exhausted")
    }

    @Test mutating func silenceCountsFromTheLastSign() {
        state.sentHead(at: begin + .seconds(4))
        #expect(outcome(after: 13) == "patient")
        #expect(outcome(after: 15) == "exhausted")
        _ = state.received(100, at: begin + .seconds(14))
        #expect(outcome(after: 23) == "patient")
        #expect(outcome(after: 25) == "exhausted")
    }

    @Test mutating func pausesOfOursAreNotThePeersSilence() {
        state.sentHead(at: begin)
        state.isPaused = true
        #expect(outcome(after: 40) == "patient")
        state.resumed(at: begin + .seconds(40))
        #expect(outcome(after: 49) == "patient")
        #expect(outcome(after: 51) == "exhausted")
    }

    @Test mutating func theTotalLimitHoldsWhateverHappens() {
        state.sentHead(at: begin)
        _ = state.received(100, at: begin + .seconds(59))
        #expect(outcome(after: 59) == "patient")
        #expect(outcome(after: 61) == "exhausted")
    }

    @Test(arguments: [nil, 0, -1, .infinity, .nan] as [Double?]) func noLimitIsNoWatch(seconds: Double?) {
        let policy = TransportPolicy(connectTimeout: seconds, idleTimeout: seconds, totalTimeout: seconds)
        #expect(outcome(after: 1e6, policy) == "none")
    }

    @Test mutating func nobodyWatchesWhatIsOver() {
        #expect(state.finish(at: begin) != nil)
        #expect(state.finish(at: begin) == nil)
        #expect(outcome(after: 100) == "none")
    }

    @Test mutating func theFirstReasonToStopStays() {
        #expect(state.stop(TransportError(.timedOut, "late")) != nil)
        #expect(state.stop(.cancelled(nil)) == nil)
        #expect(state.finish(at: begin)?.ending?.code == .timedOut)
    }
}
