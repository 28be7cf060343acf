// The loaders of a manager, in the order in which they are asked. For users and the manager.

import Foundation
import KFSupport

/// Loaders, of which the one that was added last is asked first. (Not in Kingfisher.)
///
/// See ``KingfisherManager/loaders``. May be used from any thread, and by several managers.
public final class ImageLoaderRegistry: Sendable {
    /// One addition of a loader, by which it is removed.
    public struct Registration: Hashable, Sendable {
        fileprivate let number: Int
    }

    struct Entry: Sendable {
        let registration: Registration
        let loader: any ImageLoading
    }

    private struct State: Sendable {
        /// In the order in which they are asked.
        var entries: [Entry] = []
        var added = 0
    }

    private let state = Locked(State())

    /// Creates a registry without loaders.
    public init() {}

    /// The loaders, in the order in which they are asked.
    public var loaders: [any ImageLoading] { state.withLock { $0.entries.map(\.loader) } }

    /// Adds a loader, which is asked before those that are there.
    ///
    /// - Parameter loader: The loader.
    /// - Returns: What removes it again.
    @discardableResult
    public func add(_ loader: any ImageLoading) -> Registration {
        state.withLock { state in
            state.added += 1
            let registration = Registration(number: state.added)
            state.entries.insert(Entry(registration: registration, loader: loader), at: 0)
            return registration
        }
    }

    /// Removes a loader; what it is loading goes on.
    ///
    /// - Parameter registration: What ``add(_:)`` returned; nothing happens if it was removed before.
    public func remove(_ registration: Registration) {
        state.withLock { $0.entries.removeAll { $0.registration == registration } }
    }

    /// The loader for a URL: the first that can load it.
    func entry(for url: URL, _ options: KingfisherParsedOptionsInfo) -> Entry? {
        let entries = state.withLock { $0.entries }
        return entries.first { $0.loader.canLoad(url, options: options) }
    }
}
