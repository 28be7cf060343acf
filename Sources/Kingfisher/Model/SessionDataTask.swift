// One transfer that several loads may share, as users see it: what was requested, what has arrived, and the task that
// moves the bytes.

public import Foundation
public import FoundationNetworking
import KFSupport
public import KFTransport

/// One network transfer.
///
/// Several loads of one URL share it.
public final class SessionDataTask: Sendable {
    /// Distinguishes the loads of one transfer: 0 for the first, then 1, and so on.
    public typealias CancelToken = Int

    private struct State: Sendable {
        var data = Data()
        var announced = 0
        var metrics: NetworkMetrics?
    }

    /// The URL of the request the transfer was created with; redirects do not change it.
    public let originalURL: URL?
    private let state = Locked(State())

    /// The task that moves the bytes, for inspection.
    public let task: TransferTask

    init(_ request: URLRequest) {
        originalURL = request.url
        task = TransferTask(request)
    }

    /// How long the phases of the transfer took, once that is known.
    public var metrics: NetworkMetrics? { state.withLock { $0.metrics } }

    /// A copy of the bytes received so far.
    ///
    /// Costs a copy; bytes that arrive later do not change it.
    public var mutableData: Data {
        let data = state.withLock { $0.data }
        return data.withUnsafeBytes { Data($0) }
    }

    /// The bytes received so far, sharing their storage.
    var sharedData: Data { state.withLock { $0.data } }

    /// A copy of the bytes received so far, without the first `offset` bytes.
    ///
    /// Sharing the storage instead would make every chunk that arrives later copy all of it.
    func data(from offset: Int) -> Data {
        state.withLock { state in
            let rest = state.data.dropFirst(offset)
            return rest.withUnsafeBytes { Data($0) }
        }
    }

    func collected(_ metrics: NetworkMetrics?) { state.withLock { $0.metrics = metrics } }

    /// Records the announced length of the body, which the caller has checked against its limit.
    func expect(_ count: Int) { state.withLock { $0.announced = count } }

    /// For how many bytes memory is taken before they come: who announces more need not send them.
    private static let mostReserved = 32 << 20

    /// Appends a chunk and returns how many bytes there are now.
    func append(_ chunk: Data) -> Int {
        state.withLock { state in
            if state.data.isEmpty, chunk.count >= state.announced {
                state.data = chunk  // the whole body in one piece: no copy
            } else {
                if state.data.isEmpty { state.data.reserveCapacity(min(state.announced, Self.mostReserved)) }
                state.data.append(chunk)
            }
            return state.data.count
        }
    }
}

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
