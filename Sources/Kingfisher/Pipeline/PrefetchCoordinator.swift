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
/// Loads are shared with those of ``KingfisherManager/shared`` that have the same options; cache, downloader, priority
/// and the options that are ignored are those of ``ImagePrefetcher``. May be used from any thread. Everything ends with
/// the last reference.
public final class PrefetchCoordinator: Sendable {
    /// How far images are prefetched.
    public enum Destination: Hashable, Sendable {
        /// Into memory, ready to be shown, and on disk as with any load; also from disk into memory.
        case memory
        /// The bytes as they come, as the original on disk: nothing is decoded, and a later load needs no request.
        case disk
    }

    fileprivate struct Row: Sendable {
        enum Phase: Sendable {
            /// In the window, not begun.
            case waiting
            /// The number of the load, and its task once there is one.
            case running(Int, Task<Void, Never>?)
            case finished
        }

        let source: Source
        var phase = Phase.waiting

        var isWaiting: Bool { if case .waiting = phase { true } else { false } }
        var isRunning: Bool { if case .running = phase { true } else { false } }
        var task: Task<Void, Never>? { if case .running(_, let task) = phase { task } else { nil } }
    }

    fileprivate struct State: Sendable {
        var window: Int
        var destination: Destination
        var limit = 8
        var isPaused = false
        /// The visible rows; nil while there are none.
        var visible: Range<Int>?
        var isForward = true
        /// The rows of the window, and those visible ones that were in it before.
        var rows: [Int: Row] = [:]
        /// The rows of the window, nearest first.
        var order: [Int] = []
        /// Counts the changes of the window.
        var changes = 0
        /// Counts the loads.
        var loads = 0
    }

    /// Longer windows are cut: their rows are looked at one by one, each time the list moves.
    private static let longestWindow = 1_000

    private let source: @Sendable (Int) -> Source?
    private let work: PrefetchWork
    private let state: Locked<State>

    /// Creates a coordinator for one list.
    ///
    /// - Parameters:
    ///   - window: How many rows are prefetched beyond the visible ones.
    ///   - destination: How far.
    ///   - options: How images are loaded, processed and cached; the same as those of the views, or nothing is shared.
    ///   - source: Returns the source of a row, which is never negative; nil for a row without an image, and beyond the
    ///     end of the list. Called for the rows of the window, on the thread that reports the visible rows or changes
    ///     the window. Each time, so rows may come to have other sources.
    public convenience init(
        window: Int = 20,
        destination: Destination = .memory,
        options: KingfisherOptionsInfo? = nil,
        source: @escaping @Sendable (Int) -> Source?
    ) {
        self.init(window: window, destination: destination, options: options, manager: .shared, source: source)
    }

    init(
        window: Int,
        destination: Destination,
        options: KingfisherOptionsInfo?,
        manager: KingfisherManager,
        adapt: (inout KingfisherParsedOptionsInfo) -> Void = { _ in },
        source: @escaping @Sendable (Int) -> Source?
    ) {
        self.source = source
        work = PrefetchWork(options, manager: manager) {
            $0.alsoPrefetchToMemory = true
            adapt(&$0)
        }
        state = Locked(State(window: Self.allowed(window), destination: destination))
    }

    deinit {
        for task in state.withLock({ $0.rows.values.compactMap(\.task) }) { task.cancel() }
    }

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
        get { state.withLock { $0.isPaused } }
        set {
            state.withLock { $0.isPaused = newValue }
            beginRows()
        }
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
        get { state.withLock { $0.limit } }
        set {
            state.withLock { $0.limit = max(1, newValue) }
            beginRows()
        }
    }

    /// Changes something on which the window depends, and follows it; the latest change counts.
    private func change(_ change: (inout State) -> Void) {
        let (number, rows) = state.withLock { state in
            change(&state)
            state.changes += 1
            return (state.changes, state.rowsOfWindow)
        }
        let sources = rows.compactMap { row in source(row).map { (row: row, source: $0) } }
        let dropped = state.withLock { state in
            state.changes == number ? state.moveWindow(to: sources) : []
        }
        for task in dropped { task.cancel() }
        beginRows()
    }

    /// Begins as many rows as may be under way.
    private func beginRows() {
        while let (row, load, source, destination) = state.withLock({ $0.takeRow() }) {
            let task = Task(priority: work.priority) { @concurrent [weak self, work] in
                switch destination {
                case .memory: _ = await work.image(of: source)
                case .disk: _ = await work.bytes(of: source)
                }
                self?.end(row, load)
            }
            let isOver = state.withLock { state in
                guard case .running(load, _)? = state.rows[row]?.phase else { return true }
                state.rows[row]?.phase = .running(load, task)
                return false
            }
            if isOver { task.cancel() }
        }
    }

    private func end(_ row: Int, _ load: Int) {
        state.withLock { state in
            if case .running(load, _)? = state.rows[row]?.phase { state.rows[row]?.phase = .finished }
        }
        beginRows()
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

    /// The window holds these rows now; returns the tasks of those it does not hold any more.
    fileprivate mutating func moveWindow(to sources: [(row: Int, source: Source)]) -> [Task<Void, Never>] {
        var (before, after) = (rows, [Int: PrefetchCoordinator.Row](minimumCapacity: sources.count))
        for (row, source) in sources {
            if let known = before[row], known.source == source {
                after[row] = known
                before[row] = nil
            } else {
                after[row] = PrefetchCoordinator.Row(source: source)
            }
        }
        for (row, known) in before where after[row] == nil && !known.isWaiting && visible?.contains(row) == true {
            after[row] = known
            before[row] = nil
        }
        (rows, order) = (after, sources.map(\.row))
        return before.values.compactMap(\.task)
    }

    /// The nearest row that has not begun, which begins; nil when none may.
    fileprivate mutating func takeRow() -> (Int, load: Int, Source, PrefetchCoordinator.Destination)? {
        guard !isPaused, rows.values.count(where: \.isRunning) < limit,
            let row = order.first(where: { rows[$0]?.isWaiting == true }), let source = rows[row]?.source
        else { return nil }
        loads += 1
        rows[row]?.phase = .running(loads, nil)
        return (row, loads, source, destination)
    }
}
