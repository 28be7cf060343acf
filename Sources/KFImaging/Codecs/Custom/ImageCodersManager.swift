// The list of registered coders, in the order they are asked.

import KFSupport
import Synchronization

/// The coders that are asked beside the built-in ones.
///
/// Coders with a higher priority are asked first, and among equals the one added last. The built-in formats have
/// priority 0 and were there first: a coder of priority 0 or more replaces them for the bytes it accepts, one of less
/// than 0 gets what they cannot decode or write. May be used from any thread; a decoding that is under way goes on with
/// the coders it began with.
public final class ImageCodersManager: Sendable {
    /// The coders that are asked wherever images are decoded and encoded.
    public static let shared = ImageCodersManager()

    /// Identifies a coder that was added.
    public struct Token: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct Entry: Sendable {
        let coder: any ImageCoder
        let priority: Int
        let token: Token
    }
    private struct State: Sendable {
        var entries: [Entry] = []
        var added = 0
    }
    private let state = Locked(State())
    /// Whether there is any; decoding looks at nothing else when there is none.
    private let isInUse = Atomic(false)

    package init() {}

    /// The coders that were added, in the order they are asked.
    public var coders: [any ImageCoder] { state.withLock { $0.entries.map(\.coder) } }

    /// Adds a coder.
    ///
    /// A coder that is added twice is there twice.
    ///
    /// - Parameters:
    ///   - coder: The coder.
    ///   - priority: Higher ones are asked first; below 0 after the built-in ones.
    /// - Returns: The token that removes this coder.
    @discardableResult
    public func add(_ coder: any ImageCoder, priority: Int = 0) -> Token {
        state.withLock { state in
            state.added += 1
            let token = Token(number: state.added)
            let index = state.entries.firstIndex { $0.priority <= priority } ?? state.entries.endIndex
            state.entries.insert(Entry(coder: coder, priority: priority, token: token), at: index)
            isInUse.store(true, ordering: .relaxed)
            return token
        }
    }

    /// Removes a coder.
    ///
    /// - Parameter token: The token that adding it returned.
    /// - Returns: False when it has been removed before.
    @discardableResult
    public func remove(_ token: Token) -> Bool {
        state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.token == token }) else { return false }
            state.entries.remove(at: index)
            isInUse.store(!state.entries.isEmpty, ordering: .relaxed)
            return true
        }
    }

    /// Removes every coder that was added; the built-in ones stay.
    public func removeAll() {
        state.withLock { state in
            state.entries.removeAll()
            isInUse.store(false, ordering: .relaxed)
        }
    }

    /// The coders there are now; nil when there is none, which is found out by a single check.
    var custom: CoderChain? {
        guard isInUse.load(ordering: .relaxed) else { return nil }
        return state.withLock { state in
            let split = state.entries.firstIndex { $0.priority < 0 } ?? state.entries.endIndex
            return CoderChain(
                before: state.entries[..<split].map(\.coder),
                after: state.entries[split...].map(\.coder)
            )
        }
    }
}
