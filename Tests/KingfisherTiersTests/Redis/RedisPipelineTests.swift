// The order of answers on one connection, while calls are cancelled. For RedisSession.

import Foundation
import Glibc
import KFSupport
import KingfisherTiers
import Testing

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisPipelineTests {
    private static let count = 200

    /// A server that has a value for each of the numbers.
    private static func run(_ body: (RedisServer, RedisTier) async throws -> Void) async throws {
        try await RedisServer.run { server in
            let tier = try RedisTier.patient("redis://127.0.0.1:\(server.port)")
            for key in 0..<count { try await tier.put(value(key), forKey: "\(key)", expiry: nil) }
            try await body(server, tier)
        }
    }

    private static func value(_ key: Int) -> Data { RedisTierTests.value(key, size: 100 + key * 100) }

    @Test("Many calls at once, some of them cancelled at any time: each gets the answer to its own command")
    func cancelsBetween() async throws {
        try await Self.run { _, tier in
            try await withThrowingTaskGroup { group in
                for caller in 0..<40 {
                    group.addTask {
                        for round in 0..<40 {
                            let key = (caller * 31 + round * 7) % Self.count
                            let call = Task { try await tier.get("\(key)") }
                            if (caller + round) % 3 == 0 {
                                for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
                                call.cancel()
                            }
                            switch await call.result {
                            case .success(let value): #expect(value == Self.value(key))
                            case .failure(let error): #expect(error is CancellationError)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await tier.get("1") == Self.value(1))
        }
    }

    @Test("While the server stands still calls wait; cancelled ones return, the others get their own answers later")
    func stopped() async throws {
        try await Self.run { server, tier in
            await server.signal(SIGSTOP)
            let calls = (0..<Self.count).map { key in Task { try await tier.get("\(key)") } }
            // More than the system's buffers hold.
            let puts = (0..<20).map { number in
                Task { try await tier.put(RedisTierTests.value(number, size: 1 << 20), forKey: "put", expiry: nil) }
            }
            for key in 0..<Self.count where key % 3 == 0 { calls[key].cancel() }
            puts[5].cancel()
            for key in 0..<Self.count where key % 3 == 0 {
                await #expect(throws: CancellationError.self) { try await calls[key].value }
            }
            await #expect(throws: CancellationError.self) { try await puts[5].value }
            let after = (0..<Self.count).map { key in Task { try await tier.get("\(key)") } }
            await server.signal(SIGCONT)
            for key in 0..<Self.count where key % 3 != 0 { #expect(try await calls[key].value == Self.value(key)) }
            for (number, put) in puts.enumerated() where number != 5 { try await put.value }
            for key in 0..<Self.count { #expect(try await after[key].value == Self.value(key)) }
        }
    }

    @Test("A call of a task that was cancelled before returns, and is not sent") func cancelledBefore() async throws {
        let commands = Locked<[[String]]>([])
        let fake = try FakeRedis { client in
            while let command = client.commandAfterPing() {
                commands.withLock { $0.append(command) }
                client.send("$-1\r\n")
            }
        }
        let tier = try RedisTier.patient(fake.url)
        #expect(try await tier.get("first") == nil)
        let isCancelled = Promise<Void>()
        let call = Task {
            await isCancelled.value
            return try await tier.get("second")
        }
        call.cancel()
        isCancelled.fulfil(())
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await tier.get("third") == nil)
        #expect(commands.withLock { $0.map(\.last) } == ["kf:first", "kf:third"])
    }
}
