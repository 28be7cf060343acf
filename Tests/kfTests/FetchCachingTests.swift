// `kf fetch` and what servers say about caching.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.timeLimit(.minutes(5))) struct FetchCachingTests {
    let place: TestDirectory

    init() throws { place = try TestDirectory() }

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
}
