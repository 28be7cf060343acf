// A Redis that is absent, dies, hangs, comes back, or refuses. For RedisConnection.

import Foundation
import Glibc
import KFSupport
import KingfisherTiers
import Testing

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisFaultTests {
    @Test("A server that is absent at the start is no error of the tier: calls fail at once until it is there")
    func absentAtStart() async throws {
        try await RedisServer.run { server in
            await server.kill()
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            let error = try #require(await tier.failureOfGet())
            #expect(error.cause == .notConnected)
            #expect(error.message.contains("127.0.0.1:\(server.port)"))
            #expect(await tier.failure { _ = try await $0.lease("a", owner: "me", duration: .seconds(1)) } != nil)
            try await server.start()
            try await tier.isReady()
            try await tier.put(Data("v".utf8), forKey: "a", expiry: nil)
            #expect(try await tier.get("a") == Data("v".utf8))
        }
    }

    @Test("A server that is killed while it answers: each call ends with its value or an error; it is used again later")
    func killed() async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            for round in 0..<3 {
                try await tier.isReady()
                let value = RedisTierTests.value(round, size: 1 << 20)
                try await tier.put(value, forKey: "a", expiry: nil)
                await server.signal(SIGSTOP)
                let calls = (0..<64).map { _ in Task { try await tier.get("a") } }
                await server.signal(SIGCONT)
                // One has its answer, so the server is in the middle of the others.
                #expect(try await calls[0].value == value)
                await server.kill()
                for call in calls {
                    switch await call.result {
                    case .success(let answer): #expect(answer == value)
                    case .failure(let error): #expect((error as? RedisError)?.cause != nil)
                    }
                }
                try await server.start()
            }
            try await tier.isReady()
            #expect(try await tier.get("a") == nil)
        }
    }

    @Test("A server that hangs is given up after the time for answers, and used again when it goes on")
    func hangs() async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier("redis://127.0.0.1:\(server.port)", answerTimeout: .milliseconds(200))
            // A server of a busy machine may be given up, too, and is used again then.
            try await eventually("A value is stored") {
                try await tier.put(Data("v".utf8), forKey: "a", expiry: nil)
            }
            await server.signal(SIGSTOP)
            #expect(await tier.failureOfGet() != nil)
            await server.signal(SIGCONT)
            #expect(try await eventually("The server is used again") { try await tier.get("a") } == Data("v".utf8))
        }
    }

    @Test(
        "Without the right user and password there is no connection, and errors tell none of the secrets",
        arguments: [
            "redis://:wrong-secret@", "redis://nobody:wrong-secret@", "redis://", "redis://:right-secret@/99",
        ]
    )
    func refused(_ url: String) async throws {
        try await RedisServer.run("--requirepass", "right-secret") { server in
            let place = "127.0.0.1:\(server.port)"
            let parts = url.split(separator: "@/", maxSplits: 1)
            let tier = try RedisTier(parts.count == 2 ? "\(parts[0])@\(place)/\(parts[1])" : url + place)
            let error = try #require(await tier.failureOfGet())
            #expect(error.cause == .notConnected)
            #expect(error.message.contains(place))
            for secret in ["secret", "nobody"] { #expect(!"\(error) \(tier.name)".contains(secret)) }
        }
    }

    @Test("What the server refuses is an error with its reason; the connection goes on") func refusesCommand()
        async throws
    {
        try await RedisServer.run("--maxmemory", "3mb", "--maxmemory-policy", "noeviction") { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            try await tier.put(Data("v".utf8), forKey: "small", expiry: nil)
            let value = Data(count: 1 << 20)
            let error = await tier.failure { tier in
                for key in 0..<10 { try await tier.put(value, forKey: "\(key)", expiry: nil) }
            }
            #expect(error?.cause == .refused)
            #expect(error?.message.contains("OOM") == true)
            #expect(try await tier.get("small") == Data("v".utf8))
            try await server.cli("LPUSH", "kf:list", "1")
            #expect(await tier.failureOfGet("list")?.message.contains("WRONGTYPE") == true)
        }
    }

    @Test("The connection of a tier is closed when the tier is gone") func closed() async throws {
        try await RedisServer.run { server in
            do {
                let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
                try await tier.isReady()
                #expect(try await server.cli("CLIENT", "LIST").split(separator: "\n").count == 2)
            }
            _ = try await eventually("The connection is closed") {
                try await server.cli("CLIENT", "LIST").split(separator: "\n").count == 1 ? true : nil
            }
        }
    }
}
