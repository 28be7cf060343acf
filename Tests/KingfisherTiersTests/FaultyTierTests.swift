// Caches that share a Redis which is absent, dies, hangs, refuses, or has other values than were put: images are loaded
// all the same.

import Foundation
import KFSupport
import KingfisherTestSupport
import KingfisherTiers
import Testing

@testable import Kingfisher

@Suite(.tags(.engines), .timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct FaultyTierTests {
    /// What happens to the store.
    enum Fault: CaseIterable {
        case none, absent, killed, hangs, wrongPassword, truncated, ofAnotherLayout, ofAnotherKey, foreign

        /// Whether calls fail, and not only values are wrong.
        var isOfStore: Bool { [.absent, .killed, .hangs, .wrongPassword].contains(self) }
    }

    /// A machine: a cache with a folder of its own, which shares the store.
    private struct Machine {
        let manager: KingfisherManager
        let changes = Promise<SharedTierChange>()
        let returned = Promise<Void>()

        /// Who is patient lets calls take long, as on a busy machine.
        init(_ directory: URL, _ name: String, _ url: String, isPatient: Bool) throws {
            let cache = try ImageCache(name: name, cacheDirectoryURL: directory)
            let downloader = ImageDownloader(name: name)
            downloader.downloadTimeout = 300
            manager = KingfisherManager(downloader: downloader, cache: cache)
            manager.defaultOptions = [.callbackQueue(.untouch), .waitForCache]
            var limits = TierAccess.Limits()
            if isPatient { (limits.call, limits.write) = (.seconds(60), .seconds(60)) }
            let tier = try isPatient ? RedisTier.patient(url) : RedisTier(url, answerTimeout: .milliseconds(500))
            cache.core.tier = TierAccess(tier, limits: limits) { [changes, returned] change in
                if case .available = change { returned.fulfil(()) } else { changes.fulfil(change) }
            }
        }

        /// Looks for other images until something happens.
        func ask<Value>(until happened: Promise<Value>) async throws {
            var number = 0
            _ = try await eventually("The state of the store is seen") {
                number += 1
                _ = try await manager.cache.retrieveImage(forKey: "none \(number)")
                return happened.valueIfFulfilled
            }
        }

        /// Loads images, each of which has a width of its own.
        func load(_ server: TestServer) async throws -> [CacheType] {
            var types: [CacheType] = []
            for width in 1...8 {
                let result = try await manager.retrieveImage(with: server.url("/\(width).png"))
                #expect(result.image.size.width == CGFloat(width))
                types.append(result.cacheType)
            }
            await manager.cache.sharedTierWritesFinished()
            return types
        }
    }

    private static func png(_ width: Int) throws -> Data {
        let bitmap = Bitmap(width: width, height: 1) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: 0xFF00_8000)
        }
        return try #require(KFCrossPlatformImage(cgImage: bitmap).kf.pngRepresentation())
    }

    @Test(
        "Whatever the store does, every load gets its image, and what went wrong is counted",
        arguments: Fault.allCases
    )
    func faults(fault: Fault) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try await TestServer.start()
        for width in 1...8 { server.route("/\(width).png", .data(try Self.png(width))) }
        try await RedisServer.run("--requirepass", "right") { redis in
            let url = "redis://:right@127.0.0.1:\(redis.port)"
            try await RedisTier.patient(url).isReady()
            let first = try Machine(directory, "first", url, isPatient: true)
            if fault == .absent { await redis.kill() }
            _ = try await first.load(server)
            try await apply(fault, to: redis)
            let isRefused = fault == .wrongPassword
            let theirs = isRefused ? url.replacing("right", with: "hunter2") : url
            let second = try Machine(directory, "second", theirs, isPatient: fault != .hangs)
            let types = try await second.load(server)
            let statistics = try #require(second.manager.cache.sharedTierStatistics)
            if fault.isOfStore {
                #expect(types.allSatisfy { $0 == .none } && statistics.failures + statistics.timeouts > 0)
                try await second.ask(until: second.changes)
                guard case .unavailable(let tier, let reason) = await second.changes.value else { return }
                #expect(tier.contains("127.0.0.1") && !reason.isEmpty && !(tier + reason).contains("hunter2"))
            } else {
                #expect(types.allSatisfy { $0 == (fault == .none ? .disk : .none) })
                #expect((statistics.invalid > 0) == (fault != .none) && statistics.failures == 0)
            }
            try await end(fault, of: redis)
            if fault.isOfStore, !isRefused { try await second.ask(until: second.returned) }
        }
        await server.stop()
    }

    private func apply(_ fault: Fault, to redis: RedisServer) async throws {
        let script: String
        switch fault {
        case .none, .absent, .wrongPassword: return
        case .killed: return await redis.kill()
        case .hangs: return await redis.signal(SIGSTOP)
        case .truncated: script = "redis.call('set', k, string.sub(v, 1, -2))"
        case .ofAnotherLayout: script = "redis.call('set', k, '\\2' .. string.sub(v, 2))"
        case .ofAnotherKey: script = "redis.call('set', k, last); last = v"
        case .foreign: script = "redis.call('set', k, 'hello')"
        }
        let loop = """
            local keys = redis.call('keys', 'kf:kf1-*'); table.sort(keys)
            local last = redis.call('get', keys[#keys])
            for _, k in ipairs(keys) do local v = redis.call('get', k); \(script) end
            return #keys
            """
        #expect(try await redis.cli("--no-auth-warning", "-a", "right", "eval", loop, "0") == "8")
    }

    private func end(_ fault: Fault, of redis: RedisServer) async throws {
        switch fault {
        case .absent, .killed: try await redis.start()
        case .hangs: await redis.signal(SIGCONT)
        default: break
        }
    }
}
