// The loaders of a manager, in the order in which they are asked. For users and the manager.

import Foundation
import KFSupport

/// Loaders, of which the one that was added last is asked first. (Not in Kingfisher.)
///
/// See ``KingfisherManager/loaders``. May be used from any thread, and by several managers.
public final class ImageLoaderRegistry: Sendable {
    /// One addition of a loader, by which it is removed.
    public struct Registration: Hashable, Sendable {
        private let identity = CodeIdentity()
        fileprivate init() {}
    }

    struct Entry: Sendable {
        let registration: Registration
        let loader: any ImageLoading
    }

    /// In the order in which they are asked.
    private let entries = Locked<[Entry]>([])

    /// Creates a registry without loaders.
    public init() {}

    /// The loaders, in the order in which they are asked.
    public var loaders: [any ImageLoading] { entries.withLock { $0.map(\.loader) } }

    /// Adds a loader, which is asked before those that are there.
    ///
    /// - Parameter loader: The loader.
    /// - Returns: What removes it again.
    @discardableResult
    public func add(_ loader: any ImageLoading) -> Registration {
        let registration = Registration()
        entries.withLock { $0.insert(Entry(registration: registration, loader: loader), at: 0) }
        return registration
    }

    /// Removes a loader; what it is loading goes on.
    ///
    /// - Parameter registration: What ``add(_:)`` returned; nothing happens if it was removed before.
    public func remove(_ registration: Registration) {
        entries.withLock { $0.removeAll { $0.registration == registration } }
    }

    /// The loader for a URL: the first that can load it.
    func entry(for url: URL, _ options: KingfisherParsedOptionsInfo) -> Entry? {
        let entries = entries.withLock { $0 }
        return entries.first { $0.loader.canLoad(url, options: options) }
    }
}
