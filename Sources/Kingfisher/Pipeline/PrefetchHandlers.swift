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
    /// What was cached already.
    public let skipped: [Source]
    /// What could not be loaded or stored, and why; a stop is a cancellation error.
    public let failed: [PropagationError]
    /// What was loaded and stored.
    public let completed: [Source]
}

/// The end of one source of a prefetcher.
struct PrefetchEnd: Sendable {
    let index: Int
    let outcome: PrefetchWork.Outcome
}

/// The handlers of a prefetcher, and the lists they are given, which grow with each call.
struct PrefetchHandlers: Sendable {
    private struct Lists<Item: Sendable>: Sendable {
        var skipped: [Item] = []
        var failed: [Item] = []
        var completed: [Item] = []

        mutating func add(_ item: Item, _ outcome: PrefetchWork.Outcome) {
            switch outcome {
            case .skipped: skipped.append(item)
            case .failed: failed.append(item)
            case .completed: completed.append(item)
            }
        }
    }

    /// The lists of one prefetcher; its handlers are called one after the other.
    private final class Collector<Item: Sendable>: Sendable {
        private let items: [Item]
        private let lists = Locked(Lists<Item>())

        init(_ items: [Item]) { self.items = items }

        /// Adds what has ended, and returns everything.
        func adding(_ ends: [PrefetchEnd]) -> Lists<Item> {
            lists.withLock { lists in
                for end in ends { lists.add(items[end.index], end.outcome) }
                return lists
            }
        }
    }

    /// Called with a source that has ended; nil when there is no handler.
    let progress: (@Sendable ([PrefetchEnd]) -> Void)?
    /// Called with those that have ended since.
    let completion: (@Sendable ([PrefetchEnd]) -> Void)?

    /// Handlers that are given items: the sources of the prefetcher, or what they were made of.
    init<Item: Sendable>(
        _ items: [Item],
        progress: (@Sendable ([Item], [Item], [Item]) -> Void)?,
        completion: (@Sendable ([Item], [Item], [Item]) -> Void)?
    ) {
        let collector = Collector(items)
        self.progress = progress.map { Self.calling($0, collector) }
        self.completion = completion.map { Self.calling($0, collector) }
    }

    private static func calling<Item: Sendable>(
        _ handler: @escaping @Sendable ([Item], [Item], [Item]) -> Void,
        _ collector: Collector<Item>
    ) -> @Sendable ([PrefetchEnd]) -> Void {
        { ends in
            let lists = collector.adding(ends)
            handler(lists.skipped, lists.failed, lists.completed)
        }
    }
}
