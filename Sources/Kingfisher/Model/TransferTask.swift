// The task below a session data task, in the shape of a URLSessionDataTask, which does not exist here. For users.

import Foundation
import KFSupport
public import KFTransport

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The task that moves the bytes of a transfer: what `URLSessionDataTask` is in Kingfisher.
///
/// All members may be used from any thread.
public final class TransferTask: Equatable, Sendable {
    private struct State: Sendable {
        var task: (any TransportTask)?
        var priority: Float = 0.5
        var phase = URLSessionTask.State.suspended
    }

    /// The request the transfer was created with.
    public let originalRequest: URLRequest
    private let locked = Locked(State())

    init(_ request: URLRequest) { originalRequest = request }

    /// Tasks are equal when they are the same.
    public static func == (lhs: TransferTask, rhs: TransferTask) -> Bool { lhs === rhs }

    /// The task of the transport; nil until the transfer has been handed to it.
    public var transportTask: (any TransportTask)? { locked.withLock { $0.task } }

    /// The request of the current hop, which differs from the original one after a redirect.
    public var currentRequest: URLRequest { transportTask?.currentRequest ?? originalRequest }

    /// The head of the latest response; nil until one arrived.
    public var response: URLResponse? { transportTask?.response }

    /// Suspended until the transfer has been handed to the transport, where it may wait in the queue; then running,
    /// canceling, completed.
    public var state: URLSessionTask.State { locked.withLock { $0.phase } }

    /// How urgent the transfer is, from 0 to 1.
    ///
    /// The library changes it with the most urgent load that shares the transfer.
    public var priority: Float {
        get { locked.withLock { $0.priority } }
        set {
            let task = locked.withLock { state in
                state.priority = newValue
                return state.task
            }
            task?.priority = newValue
        }
    }

    /// Stops the transfer, for all loads that share it.
    ///
    /// To cancel one load, use its ``DownloadTask``.
    public func cancel() {
        let task = locked.withLock { state in
            if state.phase != .completed { state.phase = .canceling }
            return state.task
        }
        task?.cancel()
    }

    func started(_ task: any TransportTask) {
        let (priority, isCancelled) = locked.withLock { state in
            state.task = task
            if state.phase == .suspended { state.phase = .running }
            return (state.priority, state.phase == .canceling)
        }
        task.priority = priority
        let latest = self.priority
        if latest != priority { task.priority = latest }  // it has changed meanwhile
        if isCancelled { task.cancel() }
    }

    func completed() { locked.withLock { $0.phase = .completed } }
}
