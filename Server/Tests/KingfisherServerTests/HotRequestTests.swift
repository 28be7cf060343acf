// Requests that are answered from memory without being read again.

import Foundation
import HTTPTypes
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Logging
import Testing

@Suite(.timeLimit(.minutes(5))) struct HotRequestTests {
    @Test("A request is found by its path and by what its client accepts, until its URL ends to be valid")
    func found() throws {
        let parsed = try PathParser(settings: URLSettings()).parse(
            "/_/exp:2000/plain/https://a/b",
            now: Date(timeIntervalSince1970: 1000)
        )
        let requests = HotRequests()
        requests.keep(HotRequests.Known(parsed) { nil }, path: "/a", accept: "image/webp")
        func isFound(_ path: String, _ accept: String?, at second: Double = 1000) -> Bool {
            requests.find(path, accept: accept, now: Date(timeIntervalSince1970: second)) != nil
        }
        #expect(isFound("/a", "image/webp") && isFound("/a", "image/webp", at: 2000))
        #expect(!isFound("/a", "image/webp", at: 2001))
        for other in [("/b", "image/webp"), ("/a", ""), ("/a", nil), ("/a ", "image/webp")] {
            #expect(!isFound(other.0, other.1))
        }
        let long = "/" + String(repeating: "a", count: 10_000)
        requests.keep(HotRequests.Known(parsed) { nil }, path: long, accept: nil)
        #expect(!isFound(long, nil))
        // Equal as text, but not the same bytes.
        requests.keep(HotRequests.Known(parsed) { nil }, path: "/\u{E9}", accept: nil)
        requests.keep(HotRequests.Known(parsed) { nil }, path: "/K", accept: nil)
        #expect(!isFound("/e\u{301}", nil) && !isFound("/\u{212A}", nil) && isFound("/K", nil))
    }

    @Test("The same request again and again is answered alike, and anew once its file has changed")
    func answers() async throws {
        try await RenderingRig.run({ configuration in
            configuration.urls.signatures.trusted = ["right"]
            (configuration.urls.signatures.keys, configuration.urls.signatures.salts) = ([[1]], [[2]])
            configuration.output.webP = .automatic
        }) { rig in
            let file = rig.directory.appendingPathComponent("files/a.jpg")
            try Quadrants.jpeg().write(to: file)
            let images = ImageServer(
                configuration: rig.configuration,
                renderer: rig.renderer,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            try await RunningServer.serving(images.responder, images.http) { port, _ in
                let connection = try await RawConnection(port: port)
                defer { connection.leave() }
                func get(_ rest: String, _ fields: [String: String] = [:]) async throws -> Answer {
                    try await connection.send("/\(rest)/plain/local:///a.jpg", fields)
                    return try await connection.answer()
                }
                let first = try await get("right/w:50")
                for _ in 0..<4 {
                    let answer = try await get("right/w:50")
                    #expect(answer.status == 200 && answer.body == first.body)
                    for name in ["etag", "cache-control", "content-type", "content-disposition", "vary"] {
                        #expect(answer.fields[name] == first.fields[name], "\(name)")
                    }
                }
                #expect(try await get("right/w:50", ["If-None-Match": first.fields["etag"] ?? ""]).status == 304)
                let webP = try await get("right/w:50", ["Accept": "image/webp"])
                #expect(webP.fields["content-type"] == "image/webp" && first.fields["content-type"] == "image/jpeg")
                #expect(try await get("wrong/w:50").status == 403)
                try FileManager.default.removeItem(at: file)
                #expect(try await get("right/w:50").status == 404)
                try Quadrants.jpeg(orientation: 3).write(to: file)
                let changed = try await get("right/w:50")
                #expect(changed.status == 200 && changed.fields["etag"] != first.fields["etag"])
            }
        }
    }
}
