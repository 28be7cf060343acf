// The handle on one transfer of a CurlTransport, for any thread.

internal import Foundation
internal import KFSupport

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// What other threads see of a transfer.
///
/// Whatever they ask for goes to the transport's thread.
final class CurlTask: TransportTask {
    private struct State: Sendable {
        var currentRequest: URLRequest
        var response: TransportResponse?
        var priority: Float = 0.5
    }

    /// Distinguishes the transfers of one transport; later ones have greater ones.
    let id: Int
    let originalRequest: URLRequest
    /// When the transfer was asked for.
    let start = ContinuousClock.now
    private let inbox: CurlInbox
    private let state: Locked<State>

    init(_ id: Int, _ request: URLRequest, inbox: CurlInbox) {
        self.id = id
        originalRequest = request
        self.inbox = inbox
        state = Locked(State(currentRequest: request))
    }

    var currentRequest: URLRequest {
        get { state.withLock { $0.currentRequest } }
        set { state.withLock { $0.currentRequest = newValue } }
    }

    var response: URLResponse? { state.withLock { $0.response }?.urlResponse }
    func received(_ response: TransportResponse) { state.withLock { $0.response = response } }

    var priority: Float {
        get { state.withLock { $0.priority } }
        set {
            let isNew = state.withLock { state in
                defer { state.priority = newValue }
                return state.priority != newValue
            }
            if isNew { inbox.send(.setPriority(newValue, self)) }
        }
    }

    func cancel() { inbox.send(.cancel(self)) }

    /// Waits for a decision of the transfer's events; cancelling the returned task gives it up.
    func await<Value: Sendable>(
        _ value: @escaping @Sendable () async -> Value,
        as decision: @escaping @Sendable (Value) -> CurlTransfer.Decision
    ) -> Task<Void, Never> {
        Task { [self] in inbox.send(.decided(self, decision(await value()))) }
    }
}
