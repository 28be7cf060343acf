// `kf fetch` and what servers say about caching.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes), .timeLimit(.minutes(5))) struct FetchCachingTests {
    let place = TestDirectory()

    @Test("A cached image is used while it is fresh; later its server is asked, and a failure of that is a warning")
    func freshness() async throws {
        let server = try await TestServer.start()
        let image = try SampleImages.png()
        func response(_ fields: [String: String]) -> TestResponse {
            TestResponse(headers: fields, body: image).with { $0.etag = "\"1\"" }
        }
        server.route("/fresh.png", response(["Cache-Control": "max-age=1000"]))
        let unreachable = TestResponse(status: 200).with { $0.interruption = .cutBeforeHead }
        let stale = response(["Cache-Control": "max-age=60", "Age": "100"])
        server.route("/stale.png", sequence: [stale, TestResponse(status: 304, headers: ["Age": "100"]), unreachable])
        let urls = ["/fresh.png", "/stale.png"].map { server.url($0).absoluteString }
        let first = try await place.kf(["fetch", "--json"] + urls)
        #expect(first.status == 0 && first.errors == "")
        for round in 1...2 {
            let next = try await place.kf(["fetch", "--json"] + urls)
            #expect(try next.status == 0 && next.objects.map { $0["cacheType"] as? String } == ["disk", "disk"])
            #expect(server.count("/fresh.png") == 1 && server.count("/stale.png") == 1 + round)
            #expect(next.errors.contains("the cached image is used") == (round == 2), "\(next.errors)")
        }
        await server.stop()
    }

    @Test("An image that the cache does not keep is said to be nowhere", arguments: ["damaged", "no-store"])
    func unkeptImages(reason: String) async throws {
        let image = try SampleImages.jpeg()
        let server = try await TestServer.start()
        let isDamaged = reason == "damaged"
        let fields = isDamaged ? [:] : ["Cache-Control": "no-store"]
        server.route("/a.jpg", TestResponse(headers: fields, body: isDamaged ? image.dropLast(200) : image))
        let url = server.url("/a.jpg").absoluteString
        for round in 1...2 {
            let result = try await place.kf("fetch", url, "--process", "bw()")
            #expect(result.status == 0 && server.count("/a.jpg") == round, "\(result.errors)")
            #expect(result.output.hasSuffix(" → nowhere; -o writes a file\n"), "\(result.output)")
        }
        await server.stop()
    }

    @Test("With memory-only caching, nothing is answered from the disk cache") func memoryOnlyReads() async throws {
        let (old, new) = (try SampleImages.png(), try SampleImages.png(20, 20))
        let server = try await TestServer.start()
        let url = server.route("/a.png", sequence: [.data(old), .data(new)]).absoluteString
        #expect(try await place.kf("fetch", url, "-o", "old.png").status == 0)
        let result = try await place.kf("fetch", url, "-o", "new.png", "--memory-only", "--repeat", "2", "--json")
        #expect(try result.objects.map { $0["cacheType"] as? String } == ["none", "memory"])
        #expect(try place.data("old.png") == old && place.data("new.png") == new)
        // What was there stays.
        #expect(try await place.kf("fetch", url, "--json").objects.map { $0["bytes"] as? Int } == [old.count])
        await server.stop()
    }
}
