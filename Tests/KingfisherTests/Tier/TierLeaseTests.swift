// Of several machines that want one image at one time, one makes it.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct TierLeaseTests {
    /// Loads one image on all machines at once; the server answers when `isReady`.
    private func loadEverywhere(
        _ machines: Machines,
        opening gate: Gate,
        when isReady: () -> Bool
    ) async throws -> [CacheType] {
        async let results = withThrowingTaskGroup(of: CacheType.self) { group in
            for number in machines.managers.indices {
                group.addTask { try await machines.load(on: number).cacheType }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        while !isReady() { await Task.yield() }
        gate.open()
        return try await results
    }

    private func waits(_ machines: Machines) -> Int {
        machines.managers.indices.reduce(0) { $0 + machines.statistics($1).waits }
    }

    @Test("An image that three machines want at once is downloaded once; the others find it in the tier")
    func oneMaking() async throws {
        try await Machines.run(3) { machines in
            let gate = Gate()
            machines.server.route("/a.png", TestResponse(body: try SampleImage.png()).with { $0.gate = gate })
            let types = try await loadEverywhere(machines, opening: gate) { waits(machines) == 2 }
            #expect(machines.server.count("/a.png") == 1)
            #expect(types.count { $0 == .none } == 1 && types.count { $0 == .disk } == 2)
            while machines.tier.heldLeases > 0 { await Task.yield() }
        }
    }

    @Test("A lease is renewed for as long as the making takes") func renewal() async throws {
        var limits = TierAccess.Limits.patient
        // So long that renewing, every third of it, does not come too late on a busy machine.
        limits.lease = .seconds(12)
        try await Machines.run(limits: limits) { machines in
            let gate = Gate()
            machines.server.route("/a.png", TestResponse(body: try SampleImage.png()).with { $0.gate = gate })
            _ = try await loadEverywhere(machines, opening: gate) {
                machines.tier.renewals >= 4 && waits(machines) == 1
            }
            #expect(machines.server.count("/a.png") == 1)
        }
    }

    @Test("When the machine that makes an image ends, another one makes it") func deadOwner() async throws {
        try await Machines.run(1) { machines in
            machines.server.route("/a.png", .data(try SampleImage.png()))
            let key = TierKey(forKey: machines.server.url("/a.png").absoluteString, nil)
            let isTaken = try await machines.tier.lease(key.lease, owner: "dead", duration: .seconds(3_600))
            #expect(isTaken)
            let start = ContinuousClock.now
            async let found = machines.load(on: 0).cacheType
            try await until("it has asked for the lease often") { machines.tier.calls.count > 30 }
            machines.tier.endLeases()
            #expect(try await found == .none)
            // Fifteen a second, beside those of looking first, and of storing.
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            #expect(Double(machines.tier.calls.count) < 15 * seconds + 15)
            #expect(machines.statistics(0).waits == 1 && machines.statistics(0).leases == 1)
        }
    }

    @Test("When making fails on one machine, the next one tries at once") func failedMaking() async throws {
        try await Machines.run { machines in
            let gate = Gate()
            machines.server.route(
                "/a.png",
                sequence: [
                    TestResponse(status: 404).with { $0.gate = gate }, .data(try SampleImage.png()),
                ]
            )
            async let first = failure { try await machines.load(on: 0) }
            await machines.server.waitForRequests(1, to: "/a.png")
            async let second = machines.load(on: 1)
            while machines.statistics(1).waits == 0 { await Task.yield() }
            gate.open()
            #expect(await first != nil)
            #expect(try await second.cacheType == .none)
        }
    }

    @Test("A load that nobody wants any more waits for no other machine") func cancelled() async throws {
        try await Machines.run(1) { machines in
            let key = TierKey(forKey: machines.server.url("/a.png").absoluteString, nil)
            _ = try await machines.tier.lease(key.lease, owner: "other", duration: .seconds(3_600))
            let load = Task { await failure { try await machines.load(on: 0) } }
            while machines.statistics(0).waits == 0 { await Task.yield() }
            load.cancel()
            #expect(await load.value?.isTaskCancelled == true)
            while !machines.managers[0].loads.all.isEmpty { await Task.yield() }
        }
    }

    @Test("A stale image is confirmed by one machine, and the others take what it has learnt") func revalidation()
        async throws
    {
        try await Machines.run { machines in
            let body = try SampleImage.png()
            func response(_ age: Int) -> TestResponse {
                TestResponse(headers: ["Cache-Control": "max-age=100", "Age": "\(age)", "ETag": "\"1\""], body: body)
            }
            machines.server.route(
                "/a.png",
                sequence: [
                    response(200),
                    TestResponse(status: 304, headers: ["Cache-Control": "max-age=100", "ETag": "\"1\""]),
                ]
            )
            for number in 0...1 {
                let options: KingfisherOptionsInfo = number == 0 ? [.respectCacheControl] : []
                _ = try await machines.load(on: number, options)
                machines.managers[number].cache.clearMemoryCache()
            }
            #expect(machines.server.count("/a.png") == 1)
            let confirmed = try await machines.load(on: 0, [.respectCacheControl])
            #expect(confirmed.revalidation?.isNotModified == true)
            #expect(machines.server.count("/a.png") == 2)
            let found = try await machines.load(on: 1, [.respectCacheControl])
            #expect(found.cacheType == .disk && machines.server.count("/a.png") == 2)
        }
    }

    @Test("An older image in the tier does not take the place of a newer one on disk") func olderInTier() async throws {
        try await Machines.run(1) { machines in
            func response(_ width: Int, _ tag: String) throws -> TestResponse {
                let fields = ["Cache-Control": "max-age=100", "Age": "200", "ETag": tag]
                return TestResponse(headers: fields, body: try SampleImage.png(width, 1))
            }
            machines.server.route("/a.png", sequence: [try response(1, "1"), try response(2, "2"), .status(500)])
            _ = try await machines.load(on: 0, [.respectCacheControl])
            let old = machines.tier.values
            _ = try await machines.load(on: 0, [.respectCacheControl])
            machines.tier.values = old
            // Asks the server, and looks in the tier before.
            _ = await failure { try await machines.load(on: 0, [.respectCacheControl]) }
            machines.managers[0].cache.clearMemoryCache()
            let kept = try await machines.load(on: 0, [.onlyFromCache])
            #expect(kept.image.size.width == 2)
        }
    }

    @Test("Who has waited for a machine that failed waits for no further one") func severalFailures() async throws {
        try await Machines.run(4) { machines in
            let (gate, second) = (Gate(), Gate())
            machines.server.route(
                "/a.png",
                sequence: [
                    TestResponse(status: 404).with { $0.gate = gate },
                    TestResponse(status: 404).with { $0.gate = second },
                ]
            )
            async let first = failure { try await machines.load(on: 0) }
            await machines.server.waitForRequests(1, to: "/a.png")
            async let others = withTaskGroup(of: Bool.self) { group in
                for number in 1...3 { group.addTask { await failure { try await machines.load(on: number) } != nil } }
                return await group.reduce(true) { $0 && $1 }
            }
            while waits(machines) < 3 { await Task.yield() }
            gate.open()
            // All three ask at once, though none of them is answered.
            await machines.server.waitForRequests(4, to: "/a.png")
            second.open()
            #expect(await first != nil)
            #expect(await others)
        }
    }

    @Test("What took long to make is made anew earlier, by chance and seldom long before the end") func earlyRefresh() {
        var metadata = CacheMetadata(cacheControl: "max-age=60", storedAt: Date())
        #expect(metadata.earlyBy(chance: 0.1) == 0)
        metadata.makingTime = 2
        #expect(metadata.earlyBy(chance: 1) == 0)
        #expect(abs(metadata.earlyBy(chance: 0.5) - 2 * log(2)) < 1e-9)
        #expect(metadata.earlyBy(chance: 0) < 60)
        let again = CacheMetadata(encoded: metadata.encoded())
        #expect(again?.makingTime == 2)
    }
}
