// The calls from any thread to the thread of a connection. For RedisNode and RedisConnection.

internal import CKFCurl
internal import KFSupport

/// What a connection's thread is to do, and whether it can.
final class RedisInbox: Sendable {
    /// Whether calls are accepted.
    private enum Phase {
        /// The connection is being made, and has not failed since it was last there: calls wait for it.
        case connecting
        case connected
        /// Connecting has failed, and is tried again now and then: calls fail with the reason.
        case down(RedisError)
    }

    private struct State {
        var phase = Phase.connecting
        var requests: [RedisRequest] = []
        /// The bytes of these commands.
        var size = 0
        /// The calls that have no answer yet, with those that the thread has taken.
        var unanswered = 0
        /// Whether the thread is to end when all calls have their answers.
        var isClosed = false
        /// Set while the thread waits: then it has to be woken up.
        var wakeUp: WakeUp?
    }

    // SAFETY: of all functions of libcurl only curl_multi_wakeup is called with it, which is for any thread; the
    // thread that owns the handle takes it back, under the lock, before it goes on.
    private struct WakeUp: @unchecked Sendable { let multi: UnsafeMutableRawPointer }

    private static let maximumCalls = 10_000
    private static let maximumSize = 32 << 20

    private let state = Locked(State())

    /// Whether calls can be made, the best last.
    enum Readiness: Comparable { case down, connecting, connected }

    var readiness: Readiness {
        state.withLock { state in
            switch state.phase {
            case .connected: .connected
            case .connecting: .connecting
            case .down: .down
            }
        }
    }

    /// Adds a call.
    ///
    /// - Throws: An error if there is no connection, or too much waits for it.
    func add(_ request: RedisRequest, to endpoint: RedisEndpoint) throws(RedisError) {
        let error: RedisError? = state.withLock { state in
            if case .down(let error) = state.phase { return error }
            let size = state.size + request.command.bytes.count
            guard state.unanswered < Self.maximumCalls, size <= Self.maximumSize else {
                return RedisError(
                    .overloaded,
                    "Redis at \(endpoint) is too slow: \(state.unanswered) calls wait for it."
                )
            }
            state.requests.append(request)
            state.size = size
            state.unanswered += 1
            Self.wakeUp(&state)
            return nil
        }
        if let error { throw error }
    }

    /// Has the thread end when the calls have their answers.
    func close() {
        state.withLock { state in
            state.isClosed = true
            Self.wakeUp(&state)
        }
    }

    private static func wakeUp(_ state: inout State) {
        if let multi = state.wakeUp?.multi { curl_multi_wakeup(multi) }
        state.wakeUp = nil
    }
}

// MARK: - For the thread

extension RedisInbox {
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// There is a connection.
    func connected() { state.withLock { $0.phase = .connected } }

    /// There is no connection, and the calls that were taken have ended.
    ///
    /// The others wait for the next one.
    func lost() {
        state.withLock { state in
            state.phase = .connecting
            state.unanswered = state.requests.count
        }
    }

    /// There will be no connection for a while: all calls fail.
    func failed(_ error: RedisError) {
        let requests = state.withLock { state in
            let requests = state.requests
            (state.phase, state.requests, state.size, state.unanswered) = (.down(error), [], 0, 0)
            return requests
        }
        for request in requests { request.call.end(.failure(error)) }
    }

    /// The calls since the last time; `answered` ones got their answers since then.
    func take(answered: Int) -> [RedisRequest] {
        state.withLock { state in
            defer { (state.requests, state.size) = ([], 0) }
            state.unanswered -= answered
            return state.requests
        }
    }

    /// Whether there is nothing to do, so that the thread may wait in libcurl; the next call then wakes it up.
    ///
    /// Calls are something to do if the thread takes calls now.
    func mayWait(in multi: UnsafeMutableRawPointer, takesCalls: Bool) -> Bool {
        state.withLock { state in
            let hasNews = takesCalls && !state.requests.isEmpty || state.isClosed && state.unanswered == 0
            state.wakeUp = hasNews ? nil : WakeUp(multi: multi)
            return !hasNews
        }
    }

    /// The thread goes on.
    func doesNotWait() { state.withLock { $0.wakeUp = nil } }
}
