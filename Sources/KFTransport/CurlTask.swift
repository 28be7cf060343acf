// The handle on one transfer of a CurlTransport, for any thread.

internal import Foundation
internal import FoundationNetworking
internal import KFSupport

/// A transfer as other threads see it; their requests go to the transport's thread.
final class CurlTask: TransportTask {
    private struct State: Sendable {
        var currentRequest: URLRequest
        var response: TransportResponse?
        var priority: Float = 0.5
    }

    let originalRequest: URLRequest
    /// When the transfer was asked for.
    let start = ContinuousClock.now
    let inbox: CurlInbox
    private let state: Locked<State>

    init(_ request: URLRequest, inbox: CurlInbox) {
        originalRequest = request
        self.inbox = inbox
        state = Locked(State(currentRequest: request))
    }

    /// Distinguishes the tasks there are.
    var id: Int { Int(bitPattern: ObjectIdentifier(self)) }

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
}
