// Follows one download for its handle, its progress block and what observes its bytes. For downloaders.

import Foundation

/// Follows one download, beside who follows it already.
final class DownloadObserver: LoadObserver {
    private let next: (any LoadObserver)?
    private let handle: DownloadTask?
    private let started: (@Sendable (DownloadTask?) -> Void)?
    private let received: (@Sendable (SessionDataTask, Data) -> Void)?

    /// - Parameters:
    ///   - next: Who follows it already; such a load has called what is to be called when it starts.
    ///   - handle: Cancels the download.
    ///   - started: Called when the download starts.
    ///   - received: Called with every piece of it.
    init(
        before next: (any LoadObserver)?,
        handle: DownloadTask? = nil,
        started: (@Sendable (DownloadTask?) -> Void)? = nil,
        received: (@Sendable (SessionDataTask, Data) -> Void)? = nil
    ) {
        (self.next, self.handle, self.started, self.received) = (next, handle, started, received)
    }

    var isCancelled: Bool { handle?.isCancelled ?? next?.isCancelled ?? false }
    var isWanted: Bool { !isCancelled && next?.isWanted ?? true }
    var hasHandle: Bool { handle != nil || next?.hasHandle == true }

    func didSubscribe(_ subscription: any TaskSubscription) {
        handle?.didSubscribe(subscription)
        next?.didSubscribe(subscription)
    }

    func didStart(from origin: LoadOrigin) {
        handle?.didStart(from: origin)
        next?.didStart(from: origin)
        if let handle { started?(handle) }
    }

    func didReceive(_ piece: ReceivedPiece) {
        guard !isCancelled else { return }
        received?(piece.task, piece.data)
        next?.didReceive(piece)
    }

    func didProgress(_ received: Int64, of expected: Int64) { next?.didProgress(received, of: expected) }
    func didConfirm(_ metadata: CacheMetadata) { next?.didConfirm(metadata) }
}

extension KingfisherParsedOptionsInfo {
    /// Whether the request modifier is to be given a handle, so that an async load needs one, too.
    var needsHandle: Bool { requestModifier?.onDownloadTaskStarted != nil }

    /// The options of a download with a handle, which its request modifier is given.
    ///
    /// A load of the manager has a handle of its own: then that is the one to be given.
    func handled(by handle: DownloadTask) -> Self {
        var options = self
        options.load.observer = DownloadObserver(
            before: load.observer,
            handle: handle,
            started: load.observer?.hasHandle == true ? nil : requestModifier?.onDownloadTaskStarted
        )
        return options
    }
}
