// Prefetches what a list that scrolls is about to show. Knows rows by their numbers; how one is loaded is in
// PrefetchWork.

import Foundation
import KFSupport

/// Prefetches the images that a list is about to show while it scrolls. (Not in Kingfisher.)
///
/// The list reports its visible rows whenever they change. From those before, the coordinator knows the direction, and
/// prefetches the rows that come next in it, the *window*, nearest first. What leaves the window is dropped: rows that
/// have not begun are never requested, downloads that are under way end unless something else wants them. A row that
/// has become visible goes on until it is out of sight again, so that its view, which shares the load, finds it under
/// way.
///
/// ```swift
/// let prefetching = PrefetchCoordinator { row in row < urls.count ? .network(urls[row]) : nil }
/// // whenever the list has scrolled:
/// prefetching.visibleRows(12..<20)
/// ```
/// Loads are shared with those of the manager that have the same options; default options, cache, downloader, priority
/// and the options that are ignored are those of ``ImagePrefetcher``. May be used from any thread. Everything ends with
/// the last reference.
public final class PrefetchCoordinator: Sendable {
    /// How far images are prefetched.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Destination: Hashable, Sendable {
        /// Into memory, ready to be shown, and on disk as with any load; also from disk into memory.
        case memory
        /// The bytes as they come, as the original on disk: nothing is decoded, and a later load needs no request.
        case disk
    }

    fileprivate struct Row: Sendable {
        let source: Source
        /// What the source is compared by: its own `==` is code of users.
        let key: SourceKey
        /// The number of its load: a row with another source has another one.
        let load: Int
    }

    fileprivate struct State: Sendable {
        var window: Int
        var destination: Destination
        /// The visible rows; nil while there are none.
        var visible: Range<Int>?
        var isForward = true
        /// The rows of the window, and those visible ones that were in it before.
        var rows: [Int: Row] = [:]
        /// Counts the changes of the window.
        var changes = 0
        /// Counts the loads.
        var loads = 0
    }

    /// Longer windows are cut: their rows are looked at one by one, each time the list moves.
    private static let longestWindow = 1_000

    private let source: @Sendable (Int) -> Source?
    private let work: PrefetchWork
    private let queue: PrefetchQueue
    private let state: Locked<State>

    /// Creates a coordinator for one list.
    ///
    /// - Parameters:
    ///   - window: How many rows are prefetched beyond the visible ones.
    ///   - destination: How far.
    ///   - options: How images are loaded, processed and cached; the same as those of the views, or nothing is shared.
    ///   - manager: Loads them.
    ///   - source: Returns the source of a row, which is never negative; nil for a row without an image, and beyond the
    ///     end of the list. Called for the rows of the window, on the thread that reports the visible rows or changes
    ///     the window. Each time, so rows may come to have other sources.
    public convenience init(
        window: Int = 20,
        destination: Destination = .memory,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        source: @escaping @Sendable (Int) -> Source?
    ) {
        self.init(
            window: window,
            destination: destination,
            options: options,
            manager: manager,
            adapt: { _ in },
            source: source
        )
    }

    init(
        window: Int,
        destination: Destination,
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        adapt: (inout KingfisherParsedOptionsInfo) -> Void,
        source: @escaping @Sendable (Int) -> Source?
    ) {
        self.source = source
        work = PrefetchWork(options, manager: manager) {
            $0.alsoPrefetchToMemory = true
            adapt(&$0)
        }
        queue = PrefetchQueue(limit: 8, priority: work.priority)
        state = Locked(State(window: Self.allowed(window), destination: destination))
    }

    deinit { queue.stop() }

    private static func allowed(_ window: Int) -> Int { min(max(window, 0), longestWindow) }

    /// The list shows these rows now.
    ///
    /// While rows only come or only go at both ends, the direction stays. A row that failed is not tried again before
    /// it was out of the window and out of sight. An empty range means that the list shows nothing: the same as
    /// ``stop()``.
    /// - Parameter rows: The visible rows.
    public func visibleRows(_ rows: Range<Int>) { change { $0.show(rows) } }

    /// Drops everything; nothing further begins until rows are reported as visible again.
    public func stop() { change { $0.show(0..<0) } }

    /// Whether no further row begins; false at first.
    ///
    /// What is under way goes on.
    public var isPaused: Bool {
        get { queue.isPaused }
        set { queue.isPaused = newValue }
    }

    /// How many rows are prefetched beyond the visible ones, from 0 to 1,000.
    ///
    /// May be changed at any time, as may the other properties.
    public var window: Int {
        get { state.withLock { $0.window } }
        set { change { $0.window = Self.allowed(newValue) } }
    }

    /// How far rows are prefetched that begin from now on.
    public var destination: Destination {
        get { state.withLock { $0.destination } }
        set { state.withLock { $0.destination = newValue } }
    }

    /// How many rows are loaded at once; 8 at first, at least 1.
    public var maxConcurrentDownloads: Int {
        get { queue.limit }
        set { queue.limit = newValue }
    }

    /// Changes something on which the window depends, and follows it; the latest change counts.
    private func change(_ change: (inout State) -> Void) {
        let (number, rows) = state.withLock { state in
            change(&state)
            state.changes += 1
            return (state.changes, state.rowsOfWindow)
        }
        let sources = rows.compactMap { row in source(row).map { (row: row, source: $0, key: SourceKey($0)) } }
        // (What is replaced is returned, so that no provider is released with the lock held.)
        let (dropped, _) = state.withLock { state -> (PrefetchQueue.Dropped?, [Int: Row]) in
            guard state.changes == number else { return (nil, [:]) }
            let before = state.rows
            let jobs = state.moveWindow(to: sources).map(job)
            return (queue.replace(with: jobs, keeping: state.rows.values.map(\.load)), before)
        }
        for task in dropped?.running ?? [] { task.cancel() }
    }

    private func job(_ row: Row) -> PrefetchQueue.Job {
        PrefetchQueue.Job(id: row.load) { [weak self, work] in
            switch self?.destination {
            case .memory: _ = await work.image(of: row.source)
            case .disk: _ = await work.bytes(of: row.source)
            case nil: break
            }
        }
    }
}

extension PrefetchCoordinator.State {
    /// Other rows are visible.
    fileprivate mutating func show(_ rows: Range<Int>) {
        guard !rows.isEmpty else { return (visible, isForward) = (nil, true) }
        if let before = visible, before != rows {
            if rows.lowerBound >= before.lowerBound, rows.upperBound >= before.upperBound { isForward = true }
            if rows.lowerBound <= before.lowerBound, rows.upperBound <= before.upperBound { isForward = false }
        }
        visible = rows
    }

    /// The rows that come next, nearest first.
    fileprivate var rowsOfWindow: [Int] {
        guard let visible else { return [] }
        if isForward {
            let first = max(0, visible.upperBound)
            let (end, isBeyond) = first.addingReportingOverflow(window)
            return Array(first..<(isBeyond ? .max : end))
        }
        let end = max(0, visible.lowerBound)
        return (max(0, end - window)..<end).reversed()
    }

    /// The window has these rows now; returns them, nearest first.
    fileprivate mutating func moveWindow(
        to sources: [(row: Int, source: Source, key: SourceKey)]
    ) -> [PrefetchCoordinator.Row] {
        let before = rows
        rows = before.filter { visible?.contains($0.key) == true }
        return sources.map { number, source, key in
            var row = before[number]
            if row?.key != key {
                loads += 1
                row = nil
            }
            let current = row ?? PrefetchCoordinator.Row(source: source, key: key, load: loads)
            rows[number] = current
            return current
        }
    }
}
