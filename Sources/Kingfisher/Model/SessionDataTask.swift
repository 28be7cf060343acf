// One transfer that several loads may share, as users see it: what was requested and what has arrived.

public import Foundation
import KFSupport
import KFTransport

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

    /// Appends a chunk and returns how many bytes there are now.
    func append(_ chunk: Data) -> Int {
        state.withLock { state in
            if state.data.isEmpty, chunk.count >= state.announced {
                state.data = chunk  // the whole body in one piece: no copy
            } else {
                if state.data.isEmpty { state.data.reserveCapacity(state.announced) }
                state.data.append(chunk)
            }
            return state.data.count
        }
    }
}
