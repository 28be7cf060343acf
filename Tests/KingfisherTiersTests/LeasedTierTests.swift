// The tier that keeps values in one store and takes leases in another.

import Foundation
import Kingfisher
import KingfisherTiers
import Testing

@Suite struct LeasedTierTests {
    @Test("Images lie in the one store; leases and purges in the other") func separateStores() async throws {
        let (store, other) = (Shelf(name: "store"), Shelf(name: "other"))
        let tier = LeasedTier(store: store, coordinator: other)
        try await tier.put(Data("value".utf8), forKey: "kf1-a", expiry: nil)
        #expect(await store.get("kf1-a") == Data("value".utf8))
        #expect(await other.get("kf1-a") == nil)
        #expect(try await tier.leases?.lease("kf1-a", owner: "me", duration: .seconds(1)) == true)
        #expect(await other.lease("kf1-a", owner: "you", duration: .seconds(1)) == false)
        #expect(tier.name == "store with other" && tier.maxValueBytes == 1_000)
        try await tier.put(Data("value".utf8), forKey: "kf1-purges", expiry: nil)
        #expect(await store.get("kf1-purges") == nil)
        #expect(await other.get("kf1-purges") != nil)
        try await tier.remove("kf1-a")
        #expect(await store.get("kf1-a") == nil)
    }
}

/// A store in memory, whose leases never end by themselves.
private actor Shelf: SharedTier, SharedLeases {
    nonisolated let name: String
    nonisolated let maxValueBytes = 1_000
    nonisolated var leases: (any SharedLeases)? { self }
    private var values: [String: Data] = [:]
    private var owners: [String: String] = [:]

    init(name: String) { self.name = name }

    func get(_ key: String) -> Data? { values[key] }
    func put(_ value: Data, forKey key: String, expiry: Duration?) { values[key] = value }
    func remove(_ key: String) { values[key] = nil }

    func lease(_ key: String, owner: String, duration: Duration) -> Bool {
        if owners[key] == nil { owners[key] = owner }
        return owners[key] == owner
    }
    func renew(_ key: String, owner: String, duration: Duration) -> Bool { owners[key] == owner }
    func release(_ key: String, owner: String) { if owners[key] == owner { owners[key] = nil } }
}
