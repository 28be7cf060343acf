// What serves a load that no cache serves, and the pieces that arrive. For the hooks of loads.

import Foundation

/// A piece of a download that has arrived.
struct ReceivedPiece: Sendable {
    /// The transfer, which has the piece already.
    let task: SessionDataTask
    let data: Data
    /// Bytes so far.
    let received: Int64
    /// Bytes expected; −1 when unknown.
    let expected: Int64
}

/// The service that provides an image that is in no cache.
enum LoadService: Sendable {
    /// A transfer, and the load's token in it.
    case transfer(SessionDataTask, SessionDataTask.CancelToken)
    /// A provider, or a loader or downloader of the user's that has no transfer.
    case provider
}
