// The baseline of the memory store: Foundation's cache, a lock, and objects that expire.

import Foundation

/// A memory store as it is written for Apple's systems.
final class NSCacheStore<Value> {
    private final class Entry {
        let value: Value
        let lifetime: TimeInterval
        var expiry: Date

        init(_ value: Value, lifetime: TimeInterval) {
            self.value = value
            self.lifetime = lifetime
            expiry = Date().addingTimeInterval(lifetime)
        }
    }

    private let entries = NSCache<NSString, Entry>()
    private var keys: Set<String> = []
    private let lock = NSLock()

    func store(_ value: Value, forKey key: String, cost: Int) {
        lock.lock()
        defer { lock.unlock() }
        entries.setObject(Entry(value, lifetime: 300), forKey: NSString(string: key), cost: cost)
        keys.insert(key)
    }

    func value(forKey key: String) -> Value? {
        lock.lock()
        defer { lock.unlock() }
        guard let entry = entries.object(forKey: NSString(string: key)) else { return nil }
        let now = Date()
        guard entry.expiry > now else { return nil }
        entry.expiry = now.addingTimeInterval(entry.lifetime)
        return entry.value
    }
}
