// What is made once and kept, for how long, and under which key.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Synchronization
import Testing

/// Keeps its thread until it is told to end.
private struct Waiting: ImageProcessor {
    let identifier: String
    let end: DispatchSemaphore
    let begin: @Sendable () -> Void

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        begin()
        end.wait()
        return nil
    }
}

@Suite(.timeLimit(.minutes(5))) struct RenderingCachesTests {
    @Test("A thousand equal requests at once need one download and one making") func shared()
        async throws
    {
        try await RenderingRig.run { rig in
            let gate = Gate()
            rig.server.route("/a", .data(try Quadrants.jpeg()).with { $0.gate = gate })
            let request = try rig.request("rs:fill:50:50/f:webp")
            let results = try await withThrowingTaskGroup(of: RenderedImage.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        if let cached = await rig.renderer.cached(request) { return cached }
                        return try await rig.renderer.render(request)
                    }
                }
                await rig.server.waitForRequests(1, to: "/a")
                gate.open()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count == 1000 && rig.server.count("/a") == 1)
            // What is made twice is stored twice.
            #expect(Set(results.map(\.entityTag)).count == 1 && rig.cache.statistics.memory.stores == 1)
        }
    }

    @Test("Without caches each request is made anew, and nothing is kept") func none() async throws {
        try await RenderingRig.run({ $0.delivery.caching = .none }) { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg()))
            let request = try rig.request("w:50")
            for count in 1...3 {
                #expect(try await rig.renderer.render(request).image.cacheType == .none)
                #expect(await rig.renderer.cached(request) == nil && rig.renderer.memoryLookup(for: request)() == nil)
                #expect(rig.server.count("/a") == count)
            }
            await ImageCache.allCachesWillTerminate(within: 60)
            let files = try FileManager.default.subpathsOfDirectory(atPath: rig.cache.diskStorage.directoryURL.path)
            #expect(files.filter { !$0.contains("/.") && !$0.hasPrefix(".") } == [])
        }
    }

    @Test("Results come from memory, then from the disk, with the same entity tag") func layers() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg()))
            let request = try rig.request("w:50")
            #expect(await rig.renderer.cached(request) == nil && rig.server.count("/a") == 0)
            let made = try await rig.renderer.render(request)
            let times = try #require(made.times)
            #expect(times.source > .zero && times.pixels > .zero && times.encoding > .zero)
            #expect(try await rig.renderer.render(request).times == nil)
            #expect(made.image.cacheType == .none && made.entityTag.hasPrefix("\"") && made.entityTag.count > 8)
            let hot = try #require(await rig.renderer.cached(request))
            #expect(hot.image.cacheType == .memory && hot.entityTag == made.entityTag)
            await ImageCache.allCachesWillTerminate(within: 60)
            rig.cache.clearMemoryCache()
            let kept = try #require(await rig.renderer.cached(request))
            #expect(kept.image.cacheType == .disk && kept.entityTag == made.entityTag)
            #expect(kept.image.data == made.image.data && rig.server.count("/a") == 1)
            #expect(await rig.renderer.cached(request)?.image.cacheType == .memory)
            #expect(try await rig.renderer.render(try rig.request("w:51")).entityTag != made.entityTag)
        }
    }

    @Test("A result on disk is found while all threads for pixels are busy") func busyPixels() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg()))
            let request = try rig.request("w:50")
            _ = try await rig.renderer.render(request)
            await ImageCache.allCachesWillTerminate(within: 60)
            rig.cache.clearMemoryCache()
            let begun = Mutex(0)
            let end = DispatchSemaphore(value: 0)
            let tasks = (0..<PixelThreads.count).map { number in
                let processor = Waiting(identifier: "waiting \(number)", end: end) { begun.withLock { $0 += 1 } }
                let source = Source.provider(RawImageDataProvider(data: Data([1]), cacheKey: "\(number)"))
                let manager = KingfisherManager(downloader: .default, cache: rig.cache)
                return Task { try? await manager.retrieveImage(with: source, options: [.processor(processor)]) }
            }
            await until { begun.withLock { $0 } == tasks.count }
            #expect(await rig.renderer.cached(request)?.image.cacheType == .disk)
            // A signal may end another one than the task that is waited for.
            for _ in tasks { end.signal() }
            for task in tasks { _ = await task.value }
        }
    }

    @Test("What its server does not let be used without a question is asked for, and shared")
    func freshness() async throws {
        func hits(_ control: String, clearing: Bool) async throws -> (isCached: Bool, requests: Int) {
            var result = (isCached: false, requests: 0)
            try await RenderingRig.run { rig in
                let source = TestResponse.data(try Quadrants.jpeg()).with {
                    $0.headers["Cache-Control"] = control
                    $0.etag = "\"1\""
                }
                rig.server.route("/a", source)
                let request = try rig.request("w:50")
                let made = try await rig.renderer.render(request)
                await ImageCache.allCachesWillTerminate(within: 60)
                if clearing { rig.cache.clearMemoryCache() }
                let found = await rig.renderer.cached(request)
                result.isCached = found != nil
                #expect(found?.isStale ?? false == control.contains("stale-while") && rig.server.count("/a") == 1)
                if found?.isStale == true { await rig.renderer.renew(request, in: nil) }
                result.requests = rig.server.count("/a")
                #expect(try await rig.renderer.render(request).entityTag == made.entityTag)
            }
            return result
        }
        for clearing in [false, true] {
            #expect(try await hits("max-age=1000", clearing: clearing) == (true, 1))
            // The caches of a server are shared.
            #expect(try await hits("max-age=0, s-maxage=1000", clearing: clearing) == (true, 1))
            #expect(try await hits("max-age=1000, s-maxage=0", clearing: clearing) == (false, 1))
            #expect(try await hits("private, max-age=1000", clearing: clearing) == (false, 1))
            #expect(try await hits("no-cache", clearing: clearing) == (false, 1))
            #expect(try await hits("no-store", clearing: clearing) == (false, 1))
            #expect(try await hits("max-age=0, stale-while-revalidate=1000", clearing: clearing) == (true, 2))
        }
    }

    @Test("What the source said about caching is known of results made, on disk and in memory")
    func metadata() async throws {
        try await RenderingRig.run { rig in
            let source = TestResponse.data(try Quadrants.jpeg()).with {
                $0.headers["Cache-Control"] = "public, max-age=1000"
                $0.etag = "\"1\""
            }
            rig.server.route("/a", source)
            let request = try rig.request("w:50")
            var found = [try await rig.renderer.render(request), try #require(await rig.renderer.cached(request))]
            await ImageCache.allCachesWillTerminate(within: 60)
            rig.cache.clearMemoryCache()
            for _ in 0..<2 { found.append(try #require(await rig.renderer.cached(request))) }
            found.append(try #require(rig.renderer.memoryLookup(for: request)()))
            #expect(found.map(\.image.cacheType) == [.none, .memory, .disk, .memory, .memory])
            for result in found {
                #expect(result.image.cacheMetadata?.cacheControl == "public, max-age=1000")
                #expect(result.image.cacheMetadata?.eTag == "\"1\"")
            }
        }
    }

    @Test("A look-up in memory that is made once finds what is there each time, and nothing that is not fresh")
    func memoryLookup() async throws {
        try await RenderingRig.run { rig in
            let file = rig.directory.appendingPathComponent("files/a.jpg")
            let target = rig.directory.appendingPathComponent("files/b.jpg")
            try Quadrants.jpeg().write(to: file)
            rig.server.route("/a", .data(try Quadrants.jpeg()).with { $0.headers["Cache-Control"] = "no-cache" })
            let stale = try rig.request("w:50")
            _ = try await rig.renderer.render(stale)
            #expect(rig.renderer.memoryLookup(for: stale)() == nil)

            let request = try rig.request("w:50", source: "local:///a.jpg")
            let lookup = rig.renderer.memoryLookup(for: request)
            #expect(lookup() == nil)
            let made = try await rig.renderer.render(request)
            #expect(lookup()?.entityTag == made.entityTag && lookup()?.image.cacheType == .memory)
            rig.cache.clearMemoryCache()
            #expect(lookup() == nil)
            _ = try await rig.renderer.render(request)
            #expect(lookup() != nil)
            // Another file under the same name, then a link to a third one, then none.
            try FileManager.default.copyItem(at: file, to: target)
            try FileManager.default.removeItem(at: file)
            try Quadrants.jpeg().write(to: file)
            #expect(lookup() == nil)
            let again = rig.renderer.memoryLookup(for: request)
            _ = try await rig.renderer.render(request)
            #expect(again() != nil)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: target)
            #expect(again() == nil)
            try FileManager.default.removeItem(at: file)
            #expect(again() == nil)
        }
    }

    @Test("With a lifetime of nothing, nothing is kept") func noLifetime() async throws {
        try await RenderingRig.run({ $0.delivery.maxAge = 0 }) { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg()))
            let request = try rig.request("w:50")
            for _ in 0..<2 { _ = try await rig.renderer.render(request) }
            #expect(await rig.renderer.cached(request) == nil && rig.server.count("/a") == 2)
        }
    }

    @Test("Plans share a result exactly if they differ in nothing that changes it") func keys() async throws {
        try await RenderingRig.run { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg()))
            func isCached(_ options: String) async throws -> Bool {
                await rig.renderer.cached(try rig.request(options)) != nil
            }
            _ = try await rig.render("w:50/f:png")
            for same in ["f:png/w:50", "w:50/f:png/fn:x/att:1", "s:50/f:png/q:30", "w:50/f:png/exp:9999999999"] {
                #expect(try await isCached(same), "\(same)")
            }
            let others = [
                "w:51", "h:50", "w:5/h:0", "mw:50", "mh:50", "z:2", "dpr:2", "el:1", "rt:fill", "g:no", "g:no:1",
                "g:no:0:1",
                "c:1", "c:0:1", "c:1:0:no", "t:1", "t:1:fff", "t:1::1", "t:1::0:1", "pd:1", "pd:0:1", "ex:1", "ex:1:no",
                "exar:1", "exar:1:no", "ar:0", "rot:90", "fl:1", "fl:0:1", "bg:000", "bl:1", "sh:1", "pix:2", "mrd:9",
                "raw:1", "sm:0", "kcr:0", "msr:1", "msfs:99999", "cb:7",
            ]
            for option in others {
                #expect(try await !isCached("w:50/f:png/\(option)"), "\(option)")
            }
            for option in ["f:webp", "f:jpg", "f:jpg/q:30", "f:jpg/mb:1000", "f:gif", "f:gif/maf:1", "skp:jpg"] {
                #expect(try await !isCached("w:50/\(option)"), "\(option)")
            }
        }
    }
}
