// Purging: by source, tag and prefix, here and on other machines, in memory, on disk and in the tier.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct PurgeTests {
    /// A server with another image at each request, and what is seen of them: the width of the image.
    private func route(_ server: TestServer, _ path: String = "/a.png") throws {
        let images = try (1...9).map { TestResponse.data(try SampleImage.png($0, 1)) }
        server.route(path, sequence: images)
    }

    private func width(
        _ manager: KingfisherManager,
        _ url: URL,
        _ options: KingfisherOptionsInfo = []
    ) async throws -> Int {
        Int(try await manager.retrieveImage(with: url, options: [.waitForCache] + options).image.size.width)
    }

    private func waitForRequests(_ count: Int, _ rig: Rig) async {
        while rig.server.count("/a.png") < count || !rig.manager.loads.all.isEmpty { await Task.yield() }
    }

    @Test("An invalidated image is used once more, and made anew; others stay") func invalidated() async throws {
        try await Rig.run { rig in
            try route(rig.server)
            try route(rig.server, "/b.png")
            let (url, other) = (rig.server.url("/a.png"), rig.server.url("/b.png"))
            #expect(try await width(rig.manager, url) == 1)
            #expect(try await width(rig.manager, other) == 1)
            try await rig.cache.invalidate(source: .network(url))
            #expect(try await width(rig.manager, url) == 1)
            await waitForRequests(2, rig)
            #expect(try await width(rig.manager, url) == 2)
            rig.cache.clearMemoryCache()
            #expect(try await width(rig.manager, url) == 2)
            #expect(try await width(rig.manager, other) == 1)
            #expect(rig.server.count("/a.png") == 2 && rig.server.count("/b.png") == 1)
        }
    }

    @Test("What was deleted is loaded anew at once: images, processed ones and files") func deleted() async throws {
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            let twice = ResizingImageProcessor(referenceSize: CGSize(width: 50, height: 50), mode: .aspectFit)
            #expect(try await width(rig.manager, url) == 1)
            #expect(try await width(rig.manager, url, [.processor(twice)]) == 50)
            let file = try await rig.manager.retrieveEncoded(
                with: url,
                options: [.waitForCache],
                as: ImageEncoding(.webp)
            )
            let requests = rig.server.count("/a.png")
            try await rig.cache.purge(.source(key: url.cacheKey), mode: .delete)
            let after = try await rig.manager.retrieveEncoded(
                with: url,
                options: [.waitForCache],
                as: ImageEncoding(.webp)
            )
            #expect(after.data != file.data && rig.server.count("/a.png") == requests + 1)
            _ = try await width(rig.manager, url, [.processor(twice)])
            #expect(try await width(rig.manager, url) == requests + 3)
        }
    }

    @Test("What a tag's purge is about stays purged for it, also after a load with another tag has used it")
    func tagsOfOthers() async throws {
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            func width(_ tags: Set<String>) async throws -> Int {
                try await self.width(rig.manager, url, [.cacheTags(tags)])
            }
            #expect(try await width(["one"]) == 1)
            #expect(try await width(["two"]) == 1)
            try await rig.cache.purge(.tag("one"), mode: .delete)
            // It is in memory again.
            for tags: Set<String> in [["two"], [], ["two", "three"]] { #expect(try await width(tags) == 1) }
            #expect(rig.cache.isCached(forKey: url.cacheKey))
            #expect(try await width(["two", "one"]) == 2)
            #expect(try await width(["one"]) == 2)
            #expect(try await width(["two"]) == 2)
            try await rig.cache.purge(.tag("two"), mode: .invalidate)
            #expect(try await width(["one"]) == 2)
            #expect(try await width(["two"]) == 2)
            await waitForRequests(3, rig)
            #expect(try await width(["two"]) == 3)
        }
    }

    @Test("Of two machines that purge at one moment none loses its purge, however long one of them stalls")
    func stalledPurge() async throws {
        try await Machines.run(3) { machines in
            let caches = machines.managers.map(\.cache)
            let before = caches[0].core.purges.generation
            // The other machine purges again and again between this one's look and its change.
            @Sendable func purgeBefore(_ number: Int) {
                guard number <= 3 else { return }
                machines.tier.beforeReplacing {
                    await #expect(throws: Never.self) {
                        try await caches[1].purge(.tag("other \(number)"), mode: .delete)
                    }
                    purgeBefore(number + 1)
                }
            }
            purgeBefore(1)
            try await caches[0].purge(.tag("one"), mode: .delete)
            for cache in caches {
                try await until("all know it") {
                    ["one", "other 1", "other 2", "other 3"].allSatisfy {
                        cache.core.purges.state(of: "a", tags: [$0], loadedAt: before) == .deleted
                    }
                }
                #expect(cache.core.purges.state(of: "a", tags: ["none"], loadedAt: before) == .valid)
            }
        }
    }

    @Test(
        "Purges of several machines, with calls that stall, fail or lose their replies, and machines that die, are in force"
    )
    func randomPurges() async throws {
        var dice = SeededGenerator(state: 61)
        for turn in 0..<6 {
            try await Machines.run(3) { machines in
                var logs = machines.managers.map { PurgingMachine($0.cache.core.disk.directoryURL, machines.tier) }
                for manager in machines.managers { manager.cache.core.tier = nil }
                var purged: [String] = []
                machines.tier.behaviour = .unreliable
                for round in 0..<40 {
                    let many = Int.random(in: 0..<10, using: &dice) == 0 ? 30 : 1
                    let purging = logs.filter { _ in Bool.random(using: &dice) }
                    purged += await withTaskGroup(of: [String].self) { group in
                        for (number, log) in purging.enumerated() {
                            group.addTask { await log.purge((0..<many).map { "\(turn) \(round) \(number) \($0)" }) }
                        }
                        return await group.reduce(into: []) { $0 += $1 }
                    }
                    if Int.random(in: 0..<6, using: &dice) == 0 {
                        let dead = Int.random(in: 0..<3, using: &dice)
                        logs[dead].log.watch(nil)
                        logs[dead] = PurgingMachine(logs[dead].directory, machines.tier)
                    }
                    // What was answered is in force for what was loaded before, and for nothing that is loaded from now
                    // on.
                    let now = logs.map(\.log.generation).max() ?? 0
                    for log in logs where round % 10 == 9 { #expect(log.isValid("none", loadedAt: now + 1)) }
                }
                machines.tier.behaviour = .works
                #expect(purged.count > 40)
                for log in logs {
                    try await until("all know all") { purged.allSatisfy { !log.isValid($0, loadedAt: 1) } }
                    log.log.watch(nil)
                }
            }
        }
    }

    @Test("Of machines that missed no, few or very many purges, none has an image of before, nor loses one of after")
    func missedPurges() async throws {
        try await Machines.run(1) { machines in
            let log = machines.managers[0].cache.core.purges
            let tier = TierAccess(machines.tier, limits: .patient)
            try await withTemporaryDirectory { directory in
                var missed: [PurgingMachine] = []
                var generations: [UInt64] = []
                for number in 0..<5_000 {
                    if [0, 1, 700, 4_000, 4_990].contains(number) {
                        let machine = PurgingMachine(directory.appending(path: "\(number)"), machines.tier)
                        try await until("it knows the others") { machine.log.generation == log.generation }
                        machine.log.watch(nil)
                        missed.append(machine)
                    }
                    try await log.purge(.tag("\(number)"), .delete, tier)
                    generations.append(log.generation)
                }
                #expect(machines.tier.values.count < 1_300)
                for machine in missed {
                    machine.log.watch(machine.access)
                    try await until("it knows all") { machine.log.generation == log.generation }
                    for number in stride(from: 0, to: 5_000, by: 7) {
                        #expect(!machine.isValid("\(number)", loadedAt: generations[number] - 1))
                        #expect(machine.isValid("\(number)", loadedAt: generations[number]))
                    }
                    machine.log.watch(nil)
                }
            }
        }
    }

    @Test("A restarted machine that knows all purges keeps what it has, also if the tier has lost the table of all")
    func restarted() async throws {
        try await Machines.run(1) { machines in
            let core = machines.managers[0].cache.core
            for number in 0..<80 { try await machines.managers[0].cache.purge(.tag("\(number)"), mode: .delete) }
            core.purges.watch(nil)
            let before = core.purges.generation
            machines.tier.values["kf1-purge-table"] = nil
            for number in 0..<10 { machines.tier.values["kf1-purges-\(number)"] = nil }
            let restarted = PurgeLog(
                directory: core.disk.directoryURL,
                memory: MemoryStorage.Backend(config: .init(totalCostLimit: 0))
            )
            try await restarted.purge(.tag("new"), .delete, TierAccess(machines.tier, limits: .patient))
            #expect(restarted.state(of: "a", tags: ["79"], loadedAt: before - 1) == .deleted)
            #expect(restarted.state(of: "a", tags: ["new"], loadedAt: before) == .deleted)
            #expect(restarted.state(of: "a", tags: [], loadedAt: 1) == .valid)
        }
    }

    /// What purges are about, and whether that is `/a.png` with the tag `one`.
    private static let scopes: [(PurgeScope, isMeant: Bool)] = [
        (.tag("one"), true), (.tag("two"), false), (.tag("on"), false), (.all, true), (.prefix("http://"), true),
        (.prefix("http://none"), false), (.source(key: "one"), false),
    ]

    @Test("Purges are about all, a tag of the load, or the beginning of the source's key", arguments: scopes.indices)
    func scoped(index: Int) async throws {
        let (scope, isMeant) = Self.scopes[index]
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            let options: KingfisherOptionsInfo = [.cacheTags(["one", "three"])]
            #expect(try await width(rig.manager, url, options) == 1)
            try await rig.cache.purge(scope, mode: .delete)
            #expect(try await width(rig.manager, url, options) == (isMeant ? 2 : 1))
        }
    }

    @Test("A purge holds after the process has ended") func kept() async throws {
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            #expect(try await width(rig.manager, url) == 1)
            try await rig.cache.purge(.source(key: url.cacheKey), mode: .delete)
            let again = KingfisherManager(
                downloader: rig.manager.downloader,
                cache: try ImageCache(name: "test", cacheDirectoryURL: rig.directory)
            )
            #expect(try await width(again, url, [.callbackQueue(.untouch)]) == 2)
        }
    }

    @Test("A purge after the disk was cleared and the process has ended is one") func clearedBetween() async throws {
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            for number in 1...5 { try await rig.cache.purge(.tag("\(number)")) }
            await rig.cache.clearDiskCache()
            #expect(try await width(rig.manager, url) == 1)
            let again = KingfisherManager(
                downloader: rig.manager.downloader,
                cache: try ImageCache(name: "test", cacheDirectoryURL: rig.directory)
            )
            try await again.cache.invalidate(source: .network(url))
            try await again.cache.purge(.source(key: url.cacheKey), mode: .delete)
            #expect(try await width(again, url, [.callbackQueue(.untouch)]) == 2)
        }
    }

    /// Caches that are not one.
    enum Caches: CaseIterable { case group, separateOriginals }

    @Test(
        "What is loaded after a purge is valid, also in groups and with originals elsewhere",
        arguments: Caches.allCases
    )
    func severalCaches(caches: Caches) async throws {
        try await Rig.run { rig in
            try route(rig.server)
            let url = rig.server.url("/a.png")
            let other = try ImageCache(name: "other", cacheDirectoryURL: rig.directory)
            let group = ImageCacheGroup([other, rig.cache], name: "both")
            group.storePolicy = .concurrent
            let twice = ResizingImageProcessor(referenceSize: CGSize(width: 50, height: 50), mode: .aspectFit)
            let options: KingfisherOptionsInfo =
                caches == .group
                ? [.targetCache(group)] : [.originalCache(other), .cacheOriginalImage, .processor(twice)]
            _ = try await width(rig.manager, url, options)
            for cache in [other, rig.cache] { try await cache.purge(.source(key: url.cacheKey), mode: .delete) }
            _ = try await width(rig.manager, url, options)
            #expect(rig.server.count("/a.png") == 2)
            for _ in 0..<2 {
                rig.cache.clearMemoryCache()
                other.clearMemoryCache()
                _ = try await width(rig.manager, url, options)
            }
            #expect(rig.server.count("/a.png") == 2, "It was valid.")
            for cache in [other, rig.cache] { try await cache.purge(.source(key: url.cacheKey), mode: .delete) }
            _ = try await width(rig.manager, url, options)
            #expect(rig.server.count("/a.png") == 3, "It was purged again.")
        }
    }

    @Test("What was being loaded when it was purged is for those who wait for it, and not for later ones")
    func loadUnderWay() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route(
                "/a.png",
                sequence: [.data(try SampleImage.png(1, 1)).with { $0.gate = gate }, .data(try SampleImage.png(2, 1))]
            )
            let url = rig.server.url("/a.png")
            async let first = width(rig.manager, url)
            await rig.server.waitForRequests(1, to: "/a.png")
            try await rig.cache.purge(.all, mode: .delete)
            let second = try await width(rig.manager, url)
            gate.open()
            #expect(try await first == 1)
            #expect(second == 2)
            rig.cache.clearMemoryCache()
            #expect(try await width(rig.manager, url) >= 2)
        }
    }

    @Test("Another machine with the same tier knows of a purge, and does not take purged values from the tier")
    func otherMachines() async throws {
        try await Machines.run { machines in
            try route(machines.server)
            let url = machines.server.url("/a.png")
            #expect(try await machines.load(on: 0).image.size.width == 1)
            #expect(try await machines.load(on: 1).image.size.width == 1)
            try await machines.managers[0].cache.purge(.source(key: url.cacheKey), mode: .delete)
            // It looks twice a second, and forgets what is in memory a moment after the purge is known.
            let other = machines.managers[1].cache.core
            while other.purges.generation == 0 || other.memory.isCached(forKey: url.cacheKey) { await Task.yield() }
            #expect(try await machines.load(on: 1).image.size.width == 2)
            #expect(try await machines.load(on: 0).image.size.width == 2)
            #expect(machines.server.count("/a.png") == 2)
        }
    }

    @Test("A machine that has missed many purges takes over all of them; a store that lost them gets them back")
    func manyPurges() async throws {
        try await Machines.run(1) { machines in
            let cache = machines.managers[0].cache
            var generations: [UInt64] = []
            for number in 0..<200 {
                try await cache.purge(.tag("\(number)"), mode: .delete)
                generations.append(cache.core.purges.generation)
            }
            let last = try #require(generations.last)
            let late = try ImageCache(name: "late", cacheDirectoryURL: cache.diskStorage.directoryURL)
            late.sharedTier = machines.tier
            while late.core.purges.generation < last { await Task.yield() }
            for number in [0, 100, 199] {
                let generation = generations[number]
                #expect(late.core.purges.state(of: "a", tags: ["\(number)"], loadedAt: generation - 1) == .deleted)
                #expect(late.core.purges.state(of: "a", tags: ["\(number)"], loadedAt: generation) == .valid)
            }
            machines.tier.values = [:]
            while machines.tier.values.count < 2 { await Task.yield() }
            try await late.purge(.all)
            #expect(late.core.purges.generation > last)
        }
    }

    @Test("A purge that is known only by what is left in a store that lost the last ones is forgotten in memory, too")
    func lostLastPurges() async throws {
        try await Machines.run(1) { machines in
            try route(machines.server)
            let cache = machines.managers[0].cache
            try await cache.purge(.tag("other"))
            #expect(try await machines.load(on: 0).image.size.width == 1)
            var table = PurgeTable()
            table.add(.tag("other"), .invalidate)
            table.add(.source(key: machines.server.url("/a.png").cacheKey), .delete)
            machines.tier.values = ["kf1-purge-table": table.encoded()]
            while cache.core.purges.generation < table.generation || cache.core.memory.store.count > 0 {
                await Task.yield()
            }
            #expect(try await machines.load(on: 0).image.size.width == 2)
        }
    }

    @Test("Without the tier nothing is purged, and the error says so") func unreachableTier() async throws {
        try await Machines.run(1) { machines in
            machines.tier.behaviour = .fails
            let cache = machines.managers[0].cache
            await #expect(throws: SharedTierError.self) { try await cache.purge(.all) }
            #expect(cache.core.purges.generation == 0)
        }
    }

    @Test("Purges at the same time on two machines are both known to both") func simultaneous() async throws {
        try await Machines.run { machines in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    let cache = machines.managers[number % 2].cache
                    group.addTask { try await cache.purge(.tag("\(number)"), mode: .delete) }
                }
                try await group.waitForAll()
            }
            for manager in machines.managers {
                let purges = manager.cache.core.purges
                func areKnown() -> Bool {
                    (0..<20).allSatisfy { purges.state(of: "a", tags: ["\($0)"], loadedAt: 0) == .deleted }
                }
                while !areKnown() { await Task.yield() }
            }
        }
    }
}

/// A machine that has nothing but its purges, and follows those of others.
private struct PurgingMachine: Sendable {
    let directory: URL
    let access: TierAccess
    let log: PurgeLog

    init(_ directory: URL, _ tier: TestTier) {
        self.directory = directory
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        access = TierAccess(tier, limits: .patient)
        log = PurgeLog(directory: directory, memory: MemoryStorage.Backend(config: .init(totalCostLimit: 0)))
        log.loadIfNeeded()
        log.watch(access)
    }

    /// Purges tags one after the other, and returns those that were.
    func purge(_ tags: [String]) async -> [String] {
        var purged: [String] = []
        for tag in tags where (try? await log.purge(.tag(tag), .delete, access)) != nil {
            #expect(!isValid(tag, loadedAt: 1))
            purged.append(tag)
        }
        return purged
    }

    func isValid(_ tag: String, loadedAt generation: UInt64) -> Bool {
        log.state(of: "a", tags: [tag], loadedAt: generation) == .valid
    }
}

@Suite struct PurgeTableTests {
    @Test("A deletion is not softened by a later invalidation; what was loaded since is valid") func marks() {
        var table = PurgeTable()
        let deleted = table.add(.source(key: "a"), .delete).generation
        let invalidated = table.add(.source(key: "a"), .invalidate).generation
        #expect(table.state(of: "a", tags: [], loadedAt: deleted - 1) == .deleted)
        #expect(table.state(of: "a", tags: [], loadedAt: deleted) == .stale)
        #expect(table.state(of: "a", tags: [], loadedAt: invalidated) == .valid)
        #expect(table.state(of: "b", tags: [], loadedAt: 0) == .valid)
    }

    @Test("Too many purges become one of everything older, never fewer") func folding() {
        var table = PurgeTable()
        let generations = (0..<(PurgeTable.mostScopes + 10)).map { table.add(.tag("\($0)"), .invalidate).generation }
        #expect(table.scopes.count <= PurgeTable.mostScopes)
        for number in stride(from: 0, to: PurgeTable.mostScopes, by: 97) {
            #expect(table.state(of: "x", tags: ["\(number)"], loadedAt: generations[number] - 1) == .stale)
        }
        #expect(table.state(of: "x", tags: [], loadedAt: table.generation - 5) == .valid)
    }

    @Test("Tables and records are read as they were written; damaged ones are not read") func bytes() {
        var (table, records) = (PurgeTable(), PurgeRecords(after: 4))
        for (index, scope) in [PurgeScope.all, .tag("t"), .prefix("https://é"), .source(key: "s")].enumerated() {
            table.add(scope, index % 2 == 0 ? .delete : .invalidate)
            _ = records.add(scope, index % 2 == 0 ? .delete : .invalidate)
        }
        #expect(PurgeTable(encoded: table.encoded()) == table)
        #expect(PurgeRecords(encoded: records.encoded()) == records)
        #expect(PurgeRecords(encoded: PurgeRecords(after: .max).encoded()) == nil)
        for position in table.encoded().indices {
            var damaged = table.encoded()
            damaged[position] ^= 4
            #expect(PurgeTable(encoded: damaged) == nil && PurgeTable(encoded: damaged.prefix(position)) == nil)
        }
    }
}
