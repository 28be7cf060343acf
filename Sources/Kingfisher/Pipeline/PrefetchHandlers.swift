// The handlers of a prefetcher, whatever they are given: sources or resources. For ImagePrefetcher.

import KFSupport

/// Called after each source that ended, with all resources that have ended so far, in the order of their ends.
///
/// Skipped ones were cached already. Not called any more once the prefetcher is stopped.
public typealias PrefetcherProgressBlock =
    @Sendable (
        _ skippedResources: [any Resource], _ failedResources: [any Resource], _ completedResources: [any Resource]
    ) -> Void

/// Called once, with all resources in the order of their ends.
///
/// Skipped ones were cached already. Those that a stop left unfinished have failed.
public typealias PrefetcherCompletionHandler =
    @Sendable (
        _ skippedResources: [any Resource], _ failedResources: [any Resource], _ completedResources: [any Resource]
    ) -> Void

/// Called after each source that ended, with all sources that have ended so far, in the order of their ends.
///
/// Skipped ones were cached already. Not called any more once the prefetcher is stopped.
public typealias PrefetcherSourceProgressBlock =
    @Sendable (_ skippedSources: [Source], _ failedSources: [Source], _ completedSources: [Source]) -> Void

/// Called once, with all sources in the order of their ends.
///
/// Skipped ones were cached already. Those that a stop left unfinished have failed.
public typealias PrefetcherSourceCompletionHandler =
    @Sendable (_ skippedSources: [Source], _ failedSources: [Source], _ completedSources: [Source]) -> Void

/// How the sources of a prefetcher ended. (Not in Kingfisher.)
///
/// Each list is in the order in which they ended.
public struct PrefetchResult: Sendable {
    /// The resources that were cached already.
    public let skipped: [Source]
    /// The resources that could not be loaded or stored, and why; a stop is a cancellation error.
    public let failed: [PropagationError]
    /// The resources that were loaded and stored.
    public let completed: [Source]
}

/// The end of one source of a prefetcher.
struct PrefetchEnd: Sendable {
    let index: Int
    let outcome: PrefetchWork.Outcome
}

extension PrefetchResult {
    /// How sources ended.
    init(_ ends: [PrefetchEnd], of sources: [Source]) {
        let ended = EndedItems(sources, ends)
        (skipped, completed) = (ended.skipped, ended.completed)
        failed = ends.compactMap { end in
            guard case .failed(let error) = end.outcome else { return nil }
            return PropagationError(source: sources[end.index], error: error)
        }
    }
}

/// The loads that have ended, in the order of their ends.
private struct EndedItems<Item: Sendable>: Sendable {
    private let items: [Item]
    private(set) var skipped: [Item] = []
    private(set) var failed: [Item] = []
    private(set) var completed: [Item] = []

    init(_ items: [Item], _ ends: [PrefetchEnd] = []) {
        self.items = items
        for end in ends { add(end) }
    }

    mutating func add(_ end: PrefetchEnd) {
        let item = items[end.index]
        switch end.outcome {
        case .skipped: skipped.append(item)
        case .failed: failed.append(item)
        case .completed: completed.append(item)
        }
    }

    /// The same report with one more end.
    mutating func adding(_ end: PrefetchEnd) -> Self {
        add(end)
        return self
    }

    func report(to handler: @Sendable ([Item], [Item], [Item]) -> Void) { handler(skipped, failed, completed) }
}

/// The handlers of a prefetcher, whatever they are given: its sources, or what these were made of.
struct PrefetchHandlers: Sendable {
    /// Called with one end after the other, and reports all so far; nil without a handler.
    let progress: (@Sendable (PrefetchEnd) -> Void)?
    /// Called with all ends.
    let completion: (@Sendable ([PrefetchEnd]) -> Void)?

    init<Item: Sendable>(
        _ items: [Item],
        progress: (@Sendable ([Item], [Item], [Item]) -> Void)?,
        completion: (@Sendable ([Item], [Item], [Item]) -> Void)?
    ) {
        self.progress = progress.map { progress in
            let ended = Locked(EndedItems(items))
            return { end in ended.withLock { $0.adding(end) }.report(to: progress) }
        }
        self.completion = completion.map { completion -> @Sendable ([PrefetchEnd]) -> Void in
            { ends in EndedItems(items, ends).report(to: completion) }
        }
    }
}
