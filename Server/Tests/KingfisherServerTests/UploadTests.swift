// Images as the bodies of requests: their results, what is known of them, and what is refused.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(10))) struct UploadTests {
    private static let uploads = ["KF_UPLOADS": "true"]

    /// The answer to an upload on a connection of its own.
    private func post(
        _ data: Data,
        to path: String,
        port: Int,
        _ fields: [String: String] = [:]
    ) async throws -> Answer {
        let connection = try await RawConnection(port: port)
        defer { connection.leave() }
        try await connection.upload(data, to: path, fields)
        return try await connection.answer()
    }

    /// Runs a server that makes images, and takes them as uploads.
    private func withServer(
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (RenderingServer) async throws -> Void
    ) async throws {
        try await RenderingServer.run {
            $0.takesUploads = true
            configure(&$0)
        } _: {
            try await body($0)
        }
    }

    // MARK: Results

    @Test("The body is made into what the options say, for this client alone, and nothing is kept") func result()
        async throws
    {
        try await withServer { server async throws in
            let photo = try Quadrants.jpeg(orientation: 6)
            let path = "/_/rs:fill:40:60/f:webp/fn:bird"
            for _ in 1...2 {
                let answer = try await post(photo, to: path, port: server.port, ["If-None-Match": "*"])
                #expect(answer.status == 200 && answer.fields["content-type"] == "image/webp", "\(answer.text)")
                let image = try #require(Image(data: Data(answer.body)))
                #expect(image.pixelWidth == 40 && image.pixelHeight == 60)
                #expect(answer.fields["cache-control"] == "no-store")
                #expect(answer.fields["etag"] == nil && answer.fields["last-modified"] == nil)
                #expect(answer.fields["content-disposition"] == "inline; filename=\"bird.webp\"")
                #expect(answer.fields["x-request-id"] != nil && answer.fields["x-content-type-options"] == "nosniff")
            }
            let text = try await server.get("/metrics").text
            #expect(
                text.contains("kf_results_total{from=\"made\"} 2\n")
                    && text.contains("kf_requests_total{status=\"200\"} 2\n")
            )
            #expect(try await server.rig.cache.diskEntries().isEmpty)
            // Without options it is only encoded anew; its own format is kept.
            let plain = try await post(photo, to: "/_/", port: server.port)
            #expect(plain.status == 200 && plain.fields["content-type"] == "image/jpeg")
        }
    }

    @Test("An animation stays one where the format holds it") func animation() async throws {
        try await withServer { server async throws in
            let data = try await Quadrants.animation()
            for (format, frames) in [("webp", 3), ("gif", 3), ("png", 1)] {
                let answer = try await post(data, to: "/_/w:20/f:\(format)", port: server.port)
                #expect(try ImageInfo(data: Data(answer.body)).frameCount == frames, "\(format)")
            }
        }
    }

    @Test("Clients get the format that they accept") func negotiation() async throws {
        try await withServer({ $0.output.webP = .automatic }) { server async throws in
            let photo = try Quadrants.jpeg()
            let answer = try await post(photo, to: "/_/w:20", port: server.port, ["Accept": "image/webp"])
            #expect(answer.fields["content-type"] == "image/webp")
        }
    }

    @Test("What is known of an image is JSON") func facts() async throws {
        try await withServer({ $0.delivery.allowedOrigin = "*" }) { server async throws in
            let answer = try await post(try Quadrants.jpeg(orientation: 6), to: "/_/info", port: server.port)
            #expect(answer.status == 200 && answer.fields["content-type"] == "application/json")
            #expect(answer.fields["cache-control"] == "no-store" && answer.fields["access-control-allow-origin"] == "*")
            let facts = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
            #expect(facts["width"] as? Int == 100 && facts["height"] as? Int == 200)
            #expect(facts["orientation"] as? Int == 6 && facts["format"] as? String == "jpeg")
            #expect((facts["perceptualHash"] as? String).flatMap(PerceptualHash.init) != nil)
            #expect(facts["blurHash"] is String && facts["thumbHash"] is String && facts["damaged"] as? Bool == false)
            let animation = try await post(try await Quadrants.animation(), to: "/_/info", port: server.port)
            #expect(animation.text.contains("\"frames\":3"))
        }
    }

    // MARK: What is refused

    @Test("Unless uploads are allowed, a POST is refused as ever") func offByDefault() async throws {
        try await RunningServer.with { server async throws in
            for path in ["/_/w:10", "/_/info", "/_/plain/https://example.com/a"] {
                let answer = try await server.get(path, method: "POST", body: "x")
                #expect(answer.status == 405 && answer.fields["allow"] == "GET, HEAD, OPTIONS")
            }
            #expect(server.renderer.plans.isEmpty)
        }
    }

    @Test("Paths are signed without a source, and the secret is asked for") func signatures() async throws {
        let key = ["KF_KEY": "736563726574", "KF_SALT": "68656C6C6F", "KF_SECRET": "word"]
        try await RunningServer.with(Self.uploads.merging(key) { $1 }) { server async throws in
            let rules = server.images.routes.configuration.urls.signatures
            let token = ["Authorization": "Bearer word"]
            let image = Data(server.renderer.image.image.data)
            for path in ["/w:10/f:png", "/info", "/"] {
                let signature = rules.signature(of: path, with: rules.pairs[0])
                #expect(try await post(image, to: "/\(signature)\(path)", port: server.port, token).status == 200)
                #expect(try await post(image, to: "/\(signature)\(path)", port: server.port).status == 403)
                #expect(try await post(image, to: "/_\(path)", port: server.port, token).status == 403)
                #expect(try await post(image, to: "/\(signature)/w:11", port: server.port, token).status == 403)
            }
            #expect(
                try await server.get("/_/w:10", token, method: "OPTIONS").fields["allow"] == "GET, HEAD, OPTIONS, POST"
            )
        }
    }

    @Test("A path with a source, an unknown option and one that has expired are not those of uploads") func paths()
        async throws
    {
        try await RunningServer.with(Self.uploads) { server async throws in
            let image = Data(server.renderer.image.image.data)
            for path in ["/_/w:10/plain/https://example.com/a", "/_/nonsense:1", "/_/exp:1", "/_", "/_/w:10/info/x"] {
                #expect(try await post(image, to: path, port: server.port).status == 404, "\(path)")
            }
            #expect(server.renderer.plans.isEmpty)
            #expect(try await server.get("/purge", method: "POST", body: "{}").status == 404)
        }
    }

    @Test(
        "What cannot be made into an image has a status that says why",
        arguments: [("text", 415), ("empty", 415), ("header", 422), ("bomb", 413), ("long", 413)],
        ["/_/w:10", "/_/info"]
    )
    func errors(kind: (name: String, status: Int), path: String) async throws {
        try await withServer({
            $0.sources.maxBytes = 20_000
            $0.sources.maxMegapixels = 0.02
            $0.delivery.fallback.data = Array("x".utf8)
        }) { server async throws in
            let png = try #require(Quadrants.image(100, 100).pngData())
            let bomb = try #require(Quadrants.image(300, 200).pngData())
            let data: Data =
                switch kind.name {
                case "text": Data("a text named photo.jpg".utf8)
                case "empty": Data()
                case "header": png.prefix(40)
                case "bomb": bomb
                default: png + Data(count: 20_000)
                }
            let answer = try await post(data, to: path, port: server.port)
            #expect(answer.status == kind.status, "\(answer.text)")
            #expect(answer.fields["cache-control"] == "no-store" && answer.text.count > 20)
        }
    }

    @Test("A body of unknown length is read as far as its limit goes") func chunked() async throws {
        try await withServer({ $0.sources.maxBytes = 20_000 }) { server async throws in
            let photo = try Quadrants.jpeg()
            for (padding, status) in [(0, 200), (20_000, 413)] {
                let connection = try await RawConnection(port: server.port)
                defer { connection.leave() }
                try await connection.send("/_/w:10", ["Transfer-Encoding": "chunked"], method: "POST")
                let data = photo + Data(count: padding)
                try await connection.send(
                    Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n0\r\n\r\n".utf8)
                )
                #expect(try await connection.answer().status == status)
                // The connection goes on.
                try await connection.upload(photo, to: "/_/w:10")
                #expect(try await connection.answer().status == 200)
            }
        }
    }

    @Test("Of a cut image there is a part, unless damage is an error", arguments: [true, false])
    func damaged(isSent: Bool) async throws {
        try await withServer({ $0.sources.damaged = isSent ? .part : .error }) { server async throws in
            let photo = try Quadrants.jpeg(Quadrants.image(600, 400))
            let cut = photo.prefix(photo.count * 2 / 3)
            #expect(try await post(cut, to: "/_/w:100", port: server.port).status == (isSent ? 200 : 422))
            #expect(try await post(cut, to: "/_/info", port: server.port).text.contains("\"damaged\":true"))
        }
    }

    // MARK: Clients

    @Test("A client that waits for the word to send its image is given it, unless it is refused") func expectation()
        async throws
    {
        try await withServer({ $0.sources.maxBytes = 100_000 }) { server async throws in
            let connection = try await RawConnection(port: server.port)
            let photo = try Quadrants.jpeg()
            let fields = ["Expect": "100-continue", "Content-Length": "\(photo.count)"]
            for _ in 1...2 {
                try await connection.send("/_/w:10", fields, method: "POST")
                #expect(try await connection.statusLine() == "HTTP/1.1 100 Continue")
                #expect(try await connection.statusLine() == "")
                try await connection.send(photo)
                #expect(try await connection.answer().status == 200)
            }
            try await connection.send(
                "/_/w:10",
                ["Expect": "100-continue", "Content-Length": "100001"],
                method: "POST"
            )
            #expect(try await connection.answer().status == 413)
            connection.leave()
        }
    }

    @Test("Uploads are made for themselves, even if they are equal, and a client that leaves takes nothing from others")
    func together() async throws {
        try await RunningServer.with(Self.uploads) { server async throws in
            let image = Data(server.renderer.image.image.data)
            let routes = server.images.routes
            server.renderer.closeGate()
            let connections = [try await RawConnection(port: server.port), try await RawConnection(port: server.port)]
            for connection in connections { try await connection.upload(image, to: "/_/w:10") }
            await server.renderer.calls(2)
            #expect(routes.slots.counts == (2, 2) && routes.uploadMemory.count == 2 * image.count)
            connections[0].leave()
            await until { server.renderer.cancelled == 1 && routes.slots.counts == (1, 1) }
            await until { routes.uploadMemory.count == image.count }
            server.renderer.openGate()
            #expect(try await connections[1].answer().status == 200)
            connections[1].leave()
            await until { routes.clients.connectionCount == 0 && routes.uploadMemory.count == 0 }
        }
    }

    @Test("A client that leaves in the middle of its image leaves nothing behind", arguments: [true, false])
    func leaving(isLengthKnown: Bool) async throws {
        try await RunningServer.with(Self.uploads) { server async throws in
            let connection = try await RawConnection(port: server.port)
            let field = isLengthKnown ? ("Content-Length", "1000") : ("Transfer-Encoding", "chunked")
            try await connection.send("/_/w:10", [field.0: field.1], method: "POST")
            try await connection.send(Data((isLengthKnown ? "x" : "64\r\nx").utf8))
            let routes = server.images.routes
            await until { routes.slots.counts == (1, 1) }
            connection.leave()
            await until { routes.slots.counts == (0, 0) && routes.uploadMemory.count == 0 }
            await until { routes.metrics.text(gauges: []).contains("kf_errors_total{kind=\"client_left\"} 1\n") }
            #expect(server.renderer.plans.isEmpty)
        }
    }

    @Test("An image that drips is ended as any request") func dripping() async throws {
        try await RunningServer.with(Self.uploads.merging(["KF_READ_REQUEST_TIMEOUT": "5"]) { $1 }) {
            server async throws in
            let connection = try await RawConnection(port: server.port)
            // In one piece: on a busy machine the server may have ended the request before a second one is sent.
            try await connection.send("/_/w:10", ["Content-Length": "1000"], method: "POST", body: "x")
            #expect(await connection.isAtEnd())
            let routes = server.images.routes
            await until { routes.metrics.text(gauges: []).contains("kind=\"request_stalled\"} 1\n") }
            await until { routes.slots.counts == (0, 0) && routes.uploadMemory.count == 0 }
            #expect(server.renderer.plans.isEmpty)
        }
    }

    @Test("While uploads take all the memory or all slots there are, further ones get 429") func limits() async throws {
        let settings = Self.uploads.merging(["KF_REQUESTS_QUEUE_SIZE": "2"]) { $1 }
        try await RunningServer.with(settings) { server async throws in
            let routes = server.images.routes
            let (first, second) = (
                try await RawConnection(port: server.port), try await RawConnection(port: server.port)
            )
            try await first.send("/_/w:10", ["Content-Length": "900000"], method: "POST")
            await until { routes.uploadMemory.count == 900_000 }
            let refused = try await post(Data(count: 200_000), to: "/_/w:10", port: server.port)
            #expect(refused.status == 429 && refused.fields["retry-after"] == "1")
            try await second.send("/_/w:10", ["Content-Length": "50000"], method: "POST")
            await until { routes.slots.counts == (2, 2) }
            #expect(try await post(Data(count: 10), to: "/_/w:10", port: server.port).status == 429)
            await until { routes.uploadMemory.count == 950_000 }
            first.leave()
            second.leave()
            await until { routes.slots.counts == (0, 0) && routes.uploadMemory.count == 0 }
            // What exceeds the memory by itself is tried where there is nothing else.
            #expect(try await post(Data(count: 1_000_001), to: "/_/w:10", port: server.port).status == 200)
        }
    }

    @Test("An upload that takes too long is 503, and the log names no source") func time() async throws {
        try await RunningServer.with(Self.uploads.merging(["KF_TIMEOUT": "5"]) { $1 }) { server async throws in
            server.renderer.closeGate()
            let image = Data(server.renderer.image.image.data)
            for path in ["/_/w:10", "/_/info"] {
                #expect(try await post(image, to: path, port: server.port).status == 503)
            }
            await until { server.renderer.cancelled == 2 && server.images.routes.slots.counts == (0, 0) }
            #expect(server.log.all.count { $0.contains("\"source_host\":\"upload\"") && $0.contains("timeout") } == 2)
        }
    }
}
