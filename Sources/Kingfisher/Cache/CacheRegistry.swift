// The caches of this process, and the events that concern all of them: memory pressure, the background, the end. Keeps
// none of them alive.

import Foundation
import KFSupport

/// The caches of this process.
///
/// While there is at least one, the memory is watched.
final class CacheRegistry: Sendable {
    /// The registry of the process.
    static let shared = CacheRegistry { MemoryPressureMonitor(notify: $0) }

    typealias MakeWatch = @Sendable (_ notify: @escaping @Sendable (MemoryPressureLevel) -> Void) -> any MemoryWatch

    private struct Entry: Sendable {
        weak var cache: ImageCache?
    }

    private struct State: Sendable {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isWatching = true
        var watch: (any MemoryWatch)?
        var flushesOnExit = true
        var timeLimit: TimeInterval = 5
    }

    private let state = Locked(State())
    private let makeWatch: MakeWatch

    /// Creates a registry without caches, which watches the memory with the object that `makeWatch` returns.
    init(makeWatch: @escaping MakeWatch) { self.makeWatch = makeWatch }

    // MARK: Caches

    /// Adds a cache under the identity of its life cycle.
    func add(_ cache: ImageCache, as id: ObjectIdentifier) {
        update { $0.entries[id] = Entry(cache: cache) }
    }

    /// Removes the cache that was added under `id`; it may be released already.
    func remove(_ id: ObjectIdentifier) {
        update { $0.entries[id] = nil }
    }

    /// The caches there are.
    var caches: [ImageCache] { state.withLock { $0.entries.values.compactMap(\.cache) } }

    // MARK: Settings

    /// Whether the memory is watched while there are caches.
    var isWatching: Bool {
        get { state.withLock { $0.isWatching } }
        set { update { $0.isWatching = newValue } }
    }

    /// Whether the process waits for the disk when it ends by itself.
    var flushesOnExit: Bool {
        get { state.withLock { $0.flushesOnExit } }
        set { state.withLock { $0.flushesOnExit = newValue } }
    }

    /// The seconds that the end of the process may wait for the caches.
    var timeLimit: TimeInterval {
        get { state.withLock { $0.timeLimit } }
        set { state.withLock { $0.timeLimit = newValue } }
    }

    /// Changes the state, and starts or stops watching as the new state requires.
    private func update(_ change: @Sendable (inout State) -> Void) {
        let fresh = makeWatch { [weak self] in self?.handle($0) }
        let (started, stopped) = state.withLock { state -> ((any MemoryWatch)?, (any MemoryWatch)?) in
            change(&state)
            let isNeeded = state.isWatching && !state.entries.isEmpty
            guard isNeeded != (state.watch != nil) else { return (nil, nil) }
            let old = exchange(&state.watch, with: isNeeded ? fresh : nil)
            return (state.watch, old)
        }
        started?.start()
        stopped?.stop()
    }

    // MARK: Events for all caches

    /// Passes memory pressure on to all caches.
    func handle(_ level: MemoryPressureLevel) {
        guard level != .none else { return }
        for cache in caches { cache.reduceMemory(level) }
        MemoryReturn.schedule()
    }

    /// Notifies all caches that the program went to the background.
    func enteredBackground() {
        for cache in caches { cache.enteredBackground() }
    }
}
