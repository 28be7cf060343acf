// The handles on loads and look-ups as before version 5, which deprecated methods return. Those of loads are older
// names for `DownloadTask`, which does the cancelling.

public import Foundation
import KFSupport
import Synchronization

/// A load that may be cancelled, as before version 5.
public final class RetrieveImageTask: Sendable {
    /// A task without a load: cancelling it has no effect, now or later.
    public static let empty = RetrieveImageTask(isEmpty: true)

    private struct State: Sendable {
        var isCancelled = false
        var download: RetrieveImageDownloadTask?
    }

    private let isEmpty: Bool
    private let state = Locked(State())

    /// A task of a load that is to be started with it.
    public convenience init() { self.init(isEmpty: false) }

    private init(isEmpty: Bool) { self.isEmpty = isEmpty }

    /// The download the load waits for, which other loads may share; nil until there is one, and for providers.
    public var downloadTask: RetrieveImageDownloadTask? {
        state.withLock { $0.download }.flatMap { $0.task.sessionTask == nil ? nil : $0 }
    }

    /// Cancels the load; if it has not been started yet, it never will be.
    ///
    /// Safe at any time, from any thread. The load's handler is called, once, with a cancellation error, unless the
    /// load has finished before.
    public func cancel() {
        guard !isEmpty else { return }
        let download = state.withLock { state in
            state.isCancelled = true
            return state.download
        }
        download?.cancel()
    }

    /// Whether the task was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sets the load this is the task of; if the task was cancelled before, the load is cancelled at once.
    func attach(_ download: RetrieveImageDownloadTask) {
        guard !isEmpty else { return }
        let isCancelled = state.withLock { state in
            state.download = download
            return state.isCancelled
        }
        if isCancelled { download.cancel() }
    }
}

/// One load's part in a download, as before version 5.
public struct RetrieveImageDownloadTask: Sendable {
    let task: DownloadTask
    /// The downloader; nil once that has been released.
    public private(set) weak var ownerDownloader: ImageDownloader?

    init(task: DownloadTask, ownerDownloader: ImageDownloader?) {
        self.task = task
        self.ownerDownloader = ownerDownloader
    }

    /// Cancels the load whose part this is; others that share the download go on.
    public func cancel() { task.cancel() }

    /// The URL of the request the download was created with; nil until there is one.
    public var url: URL? { task.sessionTask?.originalURL }

    /// How urgent the download is, from 0 to 1; 0.5 until there is one.
    ///
    /// A hint to the transport, for all that share the download, and replaced when another load joins or leaves it. The
    /// library's own transport stores the number without using it, and setting it before there is a download has no
    /// effect. The priority from the start is ``KingfisherParsedOptionsInfo/downloadPriority``.
    public var priority: Float {
        get { task.sessionTask?.task.priority ?? 0.5 }
        nonmutating set { task.sessionTask?.task.priority = newValue }
    }
}

/// A look-up in a cache that can be cancelled, as before version 5.
public final class RetrieveImageDiskTask: Sendable {
    private let cancelled = Atomic(false)

    init() {}

    /// Cancels the look-up: an entry that has not been read yet is not read, one that has been read is not decoded.
    ///
    /// Its handler is still called, once: with nothing, or with the image if that was ready. May be called from any
    /// thread, and more than once.
    public func cancel() { cancelled.store(true, ordering: .relaxed) }

    /// Whether the look-up was cancelled.
    public var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
}

extension RetrieveImageDiskTask: LoadObserver {}
