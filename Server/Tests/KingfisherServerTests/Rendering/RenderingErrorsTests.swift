// Why there is no result: statuses, words without secrets, and files that are out of reach.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RenderingErrorsTests {
    private func outcome(_ error: RenderingError?) -> String { error.map { "\($0.status) \($0.kind)" } ?? "none" }

    @Test("What the source's server does wrong has a status of its own") func statuses() async throws {
        try await RenderingRig.run { rig in
            for (status, answer) in [(404, 404), (403, 403), (410, 410), (500, 502), (503, 502)] {
                rig.server.route("/a", .status(status))
                #expect(try await outcome(rig.error()) == "\(answer) source_status")
            }
            for place in 0...11 { rig.server.route("/r\(place)", .redirect(to: "/r\(place + 1)")) }
            rig.server.route("/r12", try Quadrants.png())
            #expect(try await outcome(rig.error(path: "/r0")) == "404 source_redirects")
            #expect(try await outcome(rig.error(path: "/r2")) == "none")
            rig.server.route("/a", try Quadrants.png().with { $0.interruption = .cut(after: 40) })
            #expect(try await outcome(rig.error()) == "422 damaged")
            #expect(try await outcome(rig.error(source: "http://127.0.0.1:1/a")) == "404 source_unreachable")
            #expect(try await outcome(rig.error(source: "http://nowhere.invalid/a")) == "404 source_unreachable")
            for source in ["ftp://a/b", "file:///etc/hostname", "data:image/png;base64,AAAA", "a.png", "http:///a"] {
                #expect(try await outcome(rig.error(source: source)) == "404 source_refused", "\(source)")
            }
        }
    }

    @Test(
        "A source that does not come in time is 504",
        arguments: [TestResponse.Interruption.stall(after: 0), .stall(after: 9)]
    )
    func timeout(fault: TestResponse.Interruption) async throws {
        try await RenderingRig.run({ $0.timeout = 1 }) { rig in
            rig.server.route("/a", try Quadrants.png().with { $0.interruption = fault })
            #expect(try await outcome(rig.error()) == "504 source_timeout")
        }
    }

    @Test("Addresses of this machine are refused unless they are allowed") func addresses() async throws {
        try await RenderingRig.run({ $0.sources.allowsLoopbackAddresses = false }) { rig in
            rig.server.route("/a", try Quadrants.png())
            #expect(try await outcome(rig.error()) == "404 source_refused")
            #expect(rig.server.count("/a") == 0)
        }
    }

    @Test("What is no image, damaged or too large is 422, and kept nowhere") func content() async throws {
        try await RenderingRig.run({ $0.sources.damaged = .error }) { rig in
            let jpeg = try Quadrants.jpeg(Quadrants.image(640, 480))
            let gif = try await Quadrants.animation()
            let info = try ImageInfo(data: gif)
            let frame = Double(info.pixelWidth * info.pixelHeight) / 1e6
            rig.server.route("/html", .data(Data("<!DOCTYPE html><p>".utf8)))
            rig.server.route("/empty", .data(Data()))
            rig.server.route("/half", .data(jpeg.prefix(jpeg.count / 2)))
            rig.server.route("/head", .data(jpeg.prefix(60)))
            rig.server.route("/a", .data(jpeg))
            rig.server.route("/gif", .data(gif))
            for _ in 0..<2 {
                #expect(try await outcome(rig.error(path: "/html")) == "422 not_an_image")
                #expect(try await outcome(rig.error(path: "/empty")) == "422 not_an_image")
                #expect(try await outcome(rig.error(path: "/half")) == "422 damaged")
                #expect(try await outcome(rig.error(path: "/head")) == "422 damaged")
                #expect(try await outcome(rig.error("msr:0.3")) == "422 too_large")
                #expect(try await outcome(rig.error("msfs:1000")) == "422 too_large")
                #expect(try await outcome(rig.error("mafr:0.01", path: "/gif")) == "422 too_large")
                // Enough for one frame, and not for all.
                #expect(try await outcome(rig.error("msr:\(1.5 * frame)", path: "/gif")) == "422 too_large")
                #expect(try await outcome(rig.error("f:webp/msr:\(1.5 * frame)", path: "/gif")) == "422 too_large")
                #expect(try await outcome(rig.error("rs:force:60000:60000:1")) == "422 too_large")
                // Rows take the memory of four pixels at least.
                #expect(try await outcome(rig.error("rs:force:1:13000000:1")) == "422 too_large")
            }
            #expect(rig.server.count("/half") == 2)
            #expect(await rig.renderer.cached(try rig.request("w:10", path: "/half")) == nil)
            #expect(rig.cache.memoryStorage.totalCacheCost() == 0)
            #expect(try await outcome(rig.error("msr:0.4")) == "none")
            // A still needs one frame.
            #expect(try await outcome(rig.error("f:jpg/msr:\(1.5 * frame)", path: "/gif")) == "none")
            #expect(try await outcome(rig.error("f:jpg/mafr:0.01", path: "/gif")) == "none")
        }
        try await RenderingRig.run({ $0.sources.maxBytes = 1000 }) { rig in
            rig.server.route("/a", .data(try Quadrants.jpeg(Quadrants.image(640, 480))))
            #expect(try await outcome(rig.error()) == "422 too_large")
        }
    }

    @Test("No reason tells the path, the query or the user of a source") func secrets() async throws {
        try await RenderingRig.run { rig in
            let url = rig.server.url("/").absoluteString
            let place = url.dropFirst("http://".count)
            rig.server.route("/secret", .status(403))
            for source in [
                "http://user:secret%40\(place)secret?token=secret", "\(url)missing?secret", "ftp://secret",
                "local:///secret", "http://127.0.0.1:1/secret?secret", "http://nowhere.invalid/secret",
            ] {
                let reason = try await rig.error(source: source)?.reason ?? ""
                #expect(!reason.isEmpty && !reason.contains("secret"), "\(source)")
            }
        }
    }

    @Test("Files are read in the configured folder, and nowhere else") func localFiles() async throws {
        try await RenderingRig.run { rig in
            let files = rig.directory.appendingPathComponent("files")
            let (inside, outside) = (
                files.appendingPathComponent("in/a b.png"), rig.directory.appendingPathComponent("o.png")
            )
            let png = try #require(Quadrants.image().pngData())
            let manager = FileManager.default
            try manager.createDirectory(at: files.appendingPathComponent("in"), withIntermediateDirectories: true)
            try png.write(to: inside)
            try png.write(to: outside)
            let links = [("out.png", outside.path), ("up", rig.directory.path), ("ok.png", inside.path)]
            for (name, target) in links {
                let link = files.appendingPathComponent(name)
                try manager.createSymbolicLink(atPath: link.path, withDestinationPath: target)
            }
            // A folder whose name begins like the root's.
            let sibling = URL(fileURLWithPath: files.path + "2")
            try manager.createDirectory(at: sibling, withIntermediateDirectories: true)
            try png.write(to: sibling.appendingPathComponent("a.png"))
            for source in [
                "local:///in/a%20b.png", "local:///ok.png", "local:///in/../in/a%20b.png", "local:///ok.png%3Fx=1",
                "local:///in/a%20b.png%3F",
            ] {
                #expect(try await outcome(rig.error(source: source)) == "none", "\(source)")
            }
            for source in [
                "local:///../o.png", "local:///in/../../o.png", "local:///%252e%252e/o.png", "local:///out.png",
                "local:///up/o.png", "local:///../files2/a.png", "local:///in", "local:///", "local:///missing",
                "local:///in/a%20b.png%2500", "local:///in/a%2520b.png", "local:///etc/hostname",
                "local:///..%3F/o.png", "local:///out.png%3Fx", "local:///%3Fx",
            ] {
                #expect(try await outcome(rig.error(source: source)) == "404 source_not_found", "\(source)")
            }
            // A changed file is another one.
            let request = try rig.request("w:30/f:png", source: "local:///ok.png")
            let before = try await rig.renderer.render(request).entityTag
            #expect(await rig.renderer.cached(request)?.entityTag == before)
            try #require(Quadrants.image(50, 50).pngData()).write(to: inside)
            #expect(await rig.renderer.cached(request) == nil)
            #expect(try await rig.renderer.render(request).entityTag != before)
        }
        try await RenderingRig.run({ $0.sources.localRoot = nil }) { rig in
            let error = try await rig.error(source: "local:///a")
            #expect(outcome(error) == "404 source_refused")
        }
    }
}
