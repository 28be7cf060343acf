// When a transfer times out, with made-up instants.

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
        switch state.timeout(policy ?? self.policy, at: begin + .seconds(seconds)) {
        case .none: "none"
        case .reached: "reached"
        case .at: "pending"
        }
    }

    @Test("Connecting has a limit of its own") func connectTimeout() {
        #expect(outcome(after: 4) == "pending")
        #expect(outcome(after: 6) == "reached")
    }

    @Test("The idle timeout counts from the last activity") mutating func idleTimeout() {
        state.sentHead(at: begin + .seconds(4))
        #expect(outcome(after: 13) == "pending")
        #expect(outcome(after: 15) == "reached")
        _ = state.received(100, at: begin + .seconds(14))
        #expect(outcome(after: 23) == "pending")
        #expect(outcome(after: 25) == "reached")
    }

    @Test("A pause of the receiver does not count as idle time of the peer") mutating func pausedReceiver() {
        state.sentHead(at: begin)
        state.isPaused = true
        #expect(outcome(after: 40) == "pending")
        state.resumed(at: begin + .seconds(40))
        #expect(outcome(after: 49) == "pending")
        #expect(outcome(after: 51) == "reached")
    }

    @Test("The total timeout holds whatever arrives") mutating func totalTimeout() {
        state.sentHead(at: begin)
        _ = state.received(100, at: begin + .seconds(59))
        #expect(outcome(after: 59) == "pending")
        #expect(outcome(after: 61) == "reached")
    }

    @Test("Without limits there is no timer", arguments: [nil, 0, -1, .infinity, .nan] as [Double?]) func noTimeouts(
        seconds: Double?
    ) {
        let policy = TransportPolicy(connectTimeout: seconds, idleTimeout: seconds, totalTimeout: seconds)
        #expect(outcome(after: 1e6, policy) == "none")
    }

    @Test("A finished transfer has no timer") mutating func finishedTransfer() {
        #expect(state.finish(at: begin) != nil)
        #expect(state.finish(at: begin) == nil)
        #expect(outcome(after: 100) == "none")
    }

    @Test("The first reason to stop stays") mutating func firstReasonStays() {
        #expect(state.stop(TransportError(.timedOut, "late")) != nil)
        #expect(state.stop(.cancelled(nil)) == nil)
        #expect(state.finish(at: begin)?.stopReason?.code == .timedOut)
    }
}
