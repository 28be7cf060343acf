// Values and leases in a real Redis.

import Foundation
import KFSupport
import KingfisherTiers
import Testing

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisTierTests {
    /// Bytes that are different for each key, with all that could be taken for the protocol's own.
    static func value(_ key: Int, size: Int = 20_000) -> Data {
        var state = UInt32(truncatingIfNeeded: key) &* 2_654_435_761 | 1
        var bytes = Array("\(key)\r\n$5\r\n-ERR\r\n".utf8)
        while bytes.count < size {
            state = state &* 1_664_525 &+ 1_013_904_223
            bytes.append(UInt8(state >> 24))
        }
        return Data(bytes)
    }

    @Test("A value comes back as it was stored, of any bytes and up to the largest size; a missing one is nil")
    func values() async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            for size in [0, 1, 20_000, tier.maxValueBytes] {
                let value = size < 2 ? Data(count: size) : Self.value(size, size: size)
                try await tier.put(value, forKey: "a-\(size)", expiry: nil)
                #expect(try await tier.get("a-\(size)") == value)
            }
            #expect(try await tier.get("b") == nil)
            try await tier.put(Data("old".utf8), forKey: "c", expiry: nil)
            try await tier.put(Data("new".utf8), forKey: "c", expiry: nil)
            #expect(try await tier.get("c") == Data("new".utf8))
            try await tier.remove("c")
            try await tier.remove("c")
            #expect(try await replacements(in: tier, "e") == [false, true, false, true, false])
            #expect(try await winners(in: tier, "e") == 1)
            #expect(try await tier.get("c") == nil)
            let tooLarge = Data(count: tier.maxValueBytes + 1)
            #expect(
                await tier.failure { try await $0.put(tooLarge, forKey: "d", expiry: nil) }?.cause == .valueTooLarge
            )
            #expect(try await server.cli("EXISTS", "kf:d") == "0")
        }
    }

    @Test("Expiry is a time to live on the server; without one there is none") func expiry() async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            try await tier.put(Data("v".utf8), forKey: "long", expiry: .seconds(90.5))
            let left = try #require(Int(try await server.cli("PTTL", "kf:long")))
            #expect((60_000...90_500).contains(left))
            try await tier.put(Data("v".utf8), forKey: "long", expiry: nil)
            #expect(try await server.cli("PTTL", "kf:long") == "-1")
            try await tier.put(Data("v".utf8), forKey: "endless", expiry: .seconds(Int64.max))
            #expect(try await tier.get("endless") != nil)
            try await tier.put(Data("v".utf8), forKey: "short", expiry: .zero)
            _ = try await eventually("The value ends") { try await tier.get("short") == nil ? true : nil }
        }
    }

    @Test("Keys begin with the prefix, and lie in the database of the URL") func keys() async throws {
        try await RedisServer.run { server in
            let first = try RedisTier.patient("redis://127.0.0.1:\(server.port)/3", prefix: "one:")
            let second = try RedisTier.patient("valkey://127.0.0.1:\(server.port)/3", prefix: "two:")
            try await first.put(Data("1".utf8), forKey: "a", expiry: nil)
            #expect(try await second.get("a") == nil)
            try await second.put(Data("2".utf8), forKey: "a", expiry: nil)
            #expect(try await first.get("a") == Data("1".utf8))
            #expect(try await server.cli("-n", "3", "GET", "two:a") == "2")
            #expect(try await server.cli("DBSIZE") == "0")
        }
    }

    @Test("A lease has one owner, who alone renews and releases it; it is apart from the value of its key")
    func leases() async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            let leases = try #require(tier.leases)
            #expect(try await leases.lease("a", owner: "me", duration: .seconds(50)))
            #expect(try await !leases.lease("a", owner: "you", duration: .seconds(50)))
            #expect(try await !leases.lease("a", owner: "me", duration: .seconds(50)))
            #expect(try await tier.get("a") == nil)
            #expect(try await !leases.renew("a", owner: "you", duration: .seconds(500)))
            try await leases.release("a", owner: "you")
            #expect(try await leases.renew("a", owner: "me", duration: .seconds(100)))
            let left = try #require(Int(try await server.cli("PTTL", "kf:lease:a")))
            #expect((50_001...100_000).contains(left))
            try await leases.release("a", owner: "me")
            #expect(try await leases.lease("a", owner: "you", duration: .milliseconds(1)))
            _ = try await eventually("The lease ends by itself") {
                try await leases.lease("a", owner: "me", duration: .seconds(50)) ? true : nil
            }
            #expect(try await !leases.renew("a", owner: "you", duration: .seconds(50)))
            #expect(try await !leases.renew("b", owner: "you", duration: .seconds(50)))
        }
    }

    @Test("A hundred who want a lease at once: one gets it") func leaseRace() async throws {
        try await RedisServer.run { server in
            let tiers = try (0..<4).map { _ in try RedisTier.patient("redis://127.0.0.1:\(server.port)") }
            for round in 0..<20 {
                let count = try await withThrowingTaskGroup { group in
                    for number in 0..<100 {
                        group.addTask {
                            try await tiers[number % 4].lease("r-\(round)", owner: "\(number)", duration: .seconds(50))
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(count == 1)
            }
        }
    }

    @Test("User and password of the URL are sent, escaped characters too") func user() async throws {
        try await RedisServer.run { server in
            try await server.cli(
                "ACL",
                "SETUSER",
                "us:er",
                "on",
                ">p@ss/w%,d",
                "~kf:*",
                "+get",
                "+set",
                "+del",
                "+eval"
            )
            try await server.cli("CONFIG", "SET", "requirepass", "alone")
            let tier = try RedisTier.patient("redis://us%3Aer:p%40ss%2Fw%25%2Cd@127.0.0.1:\(server.port)")
            try await tier.put(Data("v".utf8), forKey: "a", expiry: nil)
            #expect(try await tier.get("a") == Data("v".utf8))
            let other = try RedisTier.patient("redis://:alone@127.0.0.1:\(server.port)")
            #expect(try await other.get("a") == Data("v".utf8))
        }
    }
}
