// `kf fetch` against real servers, real files and a real cache.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct FetchTests {
    let place = TestDirectory()

    @Test("Without processing the original bytes are written") func originalBytes() async throws {
        let image = try SampleImages.jpeg()
        try await withServer { server in
            server.route("/a.jpg", .data(image, type: "image/jpeg"))
            let result = try await place.kf("fetch", server.url("/a.jpg").absoluteString, "-o", "out.jpg")
            #expect(result.status == 0)
            #expect(result.errors == "")
            #expect(result.output.hasSuffix("→ out.jpg\n"))
            #expect(try place.data("out.jpg") == image)
        }
    }

    @Test("Addresses are requested as they are written, and a content coding that is none is ignored")
    func foreignAddress() async throws {
        let image = try SampleImages.jpeg()
        try await withServer { server in
            server.route("/a%20b%20c.jpg", TestResponse(headers: ["Content-Encoding": "aws-chunked"], body: image))
            let address = server.url("/").absoluteString + "a%20b c.jpg"
            let fetched = try await place.kf("fetch", address, "-o", "out.jpg")
            #expect(fetched.status == 0, "\(fetched.errors)")
            #expect(try place.data("out.jpg") == image)
            try place.write(Data(address.utf8), "list.txt")
            let prefetched = try await place.kf("prefetch", "list.txt")
            #expect(prefetched.output == "0 downloaded, 1 already cached, 0 failed\n", "\(prefetched.errors)")
        }
    }

    @Test("Without -o, the line about a processed image says where that is")
    func whereabouts() async throws {
        let image = try SampleImages.png()
        try place.write(image, "in.png")
        let (source, pipeline) = (place.path("in.png"), ["--process", "bw()"])
        for (arguments, end) in [
            (["fetch", source, "--memory-only"] + pipeline, " → nowhere; -o writes a file\n"),
            (["fetch", source] + pipeline, " → the cache; -o writes a file\n"),
            (["fetch", source, "--memory-only"] + pipeline, " → nowhere; -o writes a file\n"),
            (["fetch", "-"] + pipeline, " → nowhere; -o writes a file\n"),
        ] {
            let result = try await place.kf(arguments, input: image)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.hasSuffix(end), "\(result.output)")
        }
        #expect(try await !place.kf("fetch", source).output.contains("→"))
    }

    @Test("There is one line of JSON for each source, in order") func jsonLines() async throws {
        let image = try SampleImages.jpeg()
        try await withServer { server in
            server.route("/slow.jpg", .data(image).with { $0.delay = .milliseconds(200) })
            server.route("/a.jpg", .data(image))
            let urls = ["/slow.jpg", "/missing.jpg", "/a.jpg"].map { server.url($0).absoluteString }
            let result = try await place.kf(["fetch", "--json", "-o", "out"] + urls)
            #expect(result.status == 1)
            let objects = try result.objects
            #expect(objects.map { $0["source"] as? String } == urls)
            #expect(
                result.output.hasPrefix(
                    #"{"source":"\#(urls[0])","key":"\#(urls[0])","cacheType":"none","bytes":\#(image.count),"#
                        + #""width":60,"height":40,"frames":1,"format":"jpeg","milliseconds":"#
                )
            )
            #expect(objects[0]["output"] as? String == "out/slow.jpg")
            let error = try #require(objects[1]["error"] as? [String: Any])
            #expect(error["code"] as? Int == 2002)
            #expect(error["reason"] as? String == "invalidHTTPStatusCode")
            #expect((error["message"] as? String)?.contains("404") == true)
            #expect(try place.data("out/a.jpg") == image)
            #expect(result.errorLines.count == 1)
        }
    }

    @Test("The format comes from the option, else the file name, else the source") func outputFormat() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        for (arguments, name, magic) in [
            (["-o", "a.jpg"], "a.jpg", [0xFF, 0xD8, 0xFF]), (["-o", "b.webp"], "b.webp", [0x52, 0x49, 0x46, 0x46]),
            (["-o", "c.png", "--format", "jpeg"], "c.png", [0xFF, 0xD8, 0xFF]),
            (["-o", "e.avif"], "e.avif", Array("\0\0\0".utf8)),
            (["-o", "d", "--process", "resize(10x10)"], "d", [0x89, 0x50, 0x4E, 0x47]),
        ] as [([String], String, [UInt8])] {
            let result = try await place.kf(["fetch", source] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            #expect(Array(try place.data(name).prefix(magic.count)) == magic)
        }
    }

    @Test("A pipeline is applied and its result cached") func pipelineResult() async throws {
        let source = try place.write(SampleImages.jpeg(90, 60), "in.jpg")
        let arguments = ["fetch", source, "--json", "-o", "out.png", "--process", "downsample(30x30)|>round(8)"]
        let first = try await place.kf(arguments)
        let cold = try place.data("out.png")
        let second = try await place.kf(arguments)
        #expect(try first.objects[0]["cacheType"] as? String == "none")
        #expect(try second.objects[0]["cacheType"] as? String == "disk")
        #expect(try first.objects[0]["width"] as? Int == 30)
        #expect(try first.objects[0]["height"] as? Int == 20)
        #expect(try place.data("out.png") == cold)
        let image = try #require(KFCrossPlatformImage(data: cold))
        #expect(image.hasAlpha)
    }

    @Test("An image is downloaded once and comes from the cache afterwards") func secondFetch() async throws {
        let image = try SampleImages.png()
        try await withServer { server in
            let url = server.route("/a.png", .data(image)).absoluteString
            let first = try await place.kf("fetch", url, "--json", "--repeat", "3", "--cache-dir", "cache")
            #expect(try first.objects.map { $0["cacheType"] as? String } == ["none", "memory", "memory"])
            let second = try await place.kf([
                "fetch", url, "--json", "--only-cache", "--cache-dir", "cache", "-o", "again.png",
            ])
            #expect(try second.objects.map { $0["cacheType"] as? String } == ["disk"])
            #expect(try place.data("again.png") == image)
            #expect(server.count("/a.png") == 1)

            let third = try await place.kf("fetch", url, "--json", "--refresh", "--cache-dir", "cache")
            #expect(try third.objects.map { $0["cacheType"] as? String } == ["none"])
            #expect(server.count("/a.png") == 2)
        }
    }

    @Test("Credentials in URLs are never printed") func redactedCredentials() async throws {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            let plain = server.url("/").absoluteString.replacingOccurrences(of: "http://", with: "")
            let urls = ["a.png", "missing.png"].map { "http://someone:secret@\(plain)\($0)" }
            let json = try await place.kf("fetch", "--json", urls[0], urls[1])
            let text = try await place.kf("fetch", urls[0], urls[1], "http://someone:secret@")
            let list = try await place.kf("cache", "list")
            let entries = try await place.kf("cache", "list", "--json")
            let info = try await place.kf("info", "--json", urls[0], urls[1])
            for result in [json, text, list, entries, info] {
                for said in [result.output, result.errors] {
                    #expect(!said.contains("secret"), "\(said)")
                    #expect(!said.contains("someone"), "\(said)")
                }
            }
            // The key as printed still finds the entry.
            let key = try #require(try entries.objects.first?["key"] as? String)
            #expect(key == "http://\(plain)a.png")
            #expect(try json.objects.first?["key"] as? String == key)
            #expect(try await place.kf("cache", "has", key).status == 0)
            #expect(try await place.kf("cache", "remove", key).status == 0)
            #expect(try await place.kf("cache", "has", key).status == 1)
        }
    }

    @Test("The name and password of a URL are sent to its server")
    func credentialsInURL() async throws {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            let host = server.url("/").absoluteString.replacingOccurrences(of: "http://", with: "")
            let result = try await place.kf("fetch", "http://me:s%40fe@\(host)a.png")
            #expect(result.status == 0, "\(result.errors)")
            #expect(server.lastRequest("/a.png")?.header("Authorization") == "Basic bWU6c0BmZQ==")
        }
    }

    @Test("As many connections are open as sources may be loaded at once", .timeLimit(.minutes(5)))
    func concurrency() async throws {
        let image = try SampleImages.png()
        try await withServer { server in
            let all = Gate()
            server.route("/a.png") { _ in
                await all.wait()
                return .data(image)
            }
            let sources = (1...32).map { server.url("/a.png?\($0)").absoluteString }
            async let result = place.kf(["fetch", "--concurrency", "32", "--timeout", "240"] + sources)
            await server.waitForRequests(32, to: "/a.png")
            #expect(server.connectionCount == 32)
            all.open()
            let status = try await result.status
            #expect(status == 0)
        }
    }

    @Test("With --only-cache, no request is sent") func onlyCache() async throws {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            let result = try await place.kf("fetch", server.url("/a.png").absoluteString, "--only-cache")
            #expect(result.status == 1)
            #expect(result.errors.hasSuffix("(code 3006)\n"))
            #expect(server.requests.isEmpty)
        }
    }

    @Test("With memory-only caching, nothing is written to the disk cache") func memoryOnly() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf([
            "fetch", source, "--memory-only", "--process", "round(3)", "--cache-dir", "cache", "-o", "out.png",
        ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(place.files("cache") == [])
    }

    @Test("Header fields are sent with every request") func headers() async throws {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            let result = try await place.kf([
                "fetch", server.url("/a.png").absoluteString, "--header", "X-One: 1", "--header", "Accept:image/png",
            ])
            #expect(result.status == 0)
            #expect(server.lastRequest("/a.png")?.header("X-One") == "1")
            #expect(server.lastRequest("/a.png")?.header("Accept")?.contains("image/png") == true)
        }
    }

    @Test("Sources with the same name get a file each") func equalNames() async throws {
        let (one, two) = (try SampleImages.png(20, 20), try SampleImages.png(30, 30))
        try await withServer { server in
            server.route("/1/a.png", .data(one))
            server.route("/2/a.png", .data(two))
            let urls = ["/1/a.png", "/2/a.png"].map { server.url($0).absoluteString }
            let result = try await place.kf(["fetch", "-o", "out/"] + urls)
            #expect(result.status == 0)
            #expect(try place.data("out/a.png") == one)
            #expect(try place.data("out/a-2.png") == two)
        }
    }

    @Test("With --quiet, only errors are printed") func quiet() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", "--quiet", source, "missing.png")
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("kf: missing.png: "))
    }

    @Test("A quiet run still prints JSON") func quietJSON() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", "--quiet", "--json", source, "missing.png")
        #expect(try result.objects.count == 2)
        #expect(result.errorLines.count == 1)
    }

    @Test("Original bytes are written from memory too") func originalFromMemory() async throws {
        let image = try SampleImages.jpeg()
        try await withServer { server in
            let url = server.route("/a.jpg", .data(image)).absoluteString
            let result = try await place.kf([
                "fetch", url, url, "--memory-only", "--concurrency", "1", "--json", "-o", "out/",
            ])
            let types = try result.objects.map { $0["cacheType"] as? String }
            #expect(types == ["none", "memory"])
            #expect(try place.data("out/a.jpg") == image)
            #expect(try place.data("out/a-2.jpg") == image)
        }
    }

    @Test("The size printed is that after the EXIF orientation") func orientedSize() async throws {
        // A JPEG of 60×40 whose EXIF data says it lies on its side.
        let exif: [UInt8] =
            [0xFF, 0xE1, 0x00, 0x22] + Array("Exif\0\0".utf8)
            + [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        let plain = try SampleImages.jpeg()
        try place.write(plain.prefix(2) + Data(exif) + plain.dropFirst(2), "turned.jpg")
        let result = try await place.kf("fetch", "turned.jpg", "--json")
        let object = try #require(try result.objects.first)
        #expect(object["width"] as? Int == 40)
        #expect(object["height"] as? Int == 60)
    }

    @Test("An empty cache directory is a usage error") func emptyCacheDirectory() async throws {
        #expect(try await place.kf("fetch", "a.png", "--cache-dir", "").status == 2)
    }

    @Test("An image can come from a data URL") func dataURL() async throws {
        let image = try SampleImages.gif()
        let result = try await place.kf("fetch", "data:image/gif;base64,\(image.base64EncodedString())", "-o", "out/")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try place.data("out/data.gif") == image)
    }

    @Test("An edited file is not served from the cache") func editedFile() async throws {
        try place.write(SampleImages.png(20, 10), "in.png")
        let first = try await place.kf("fetch", "in.png", "--json")
        try place.write(SampleImages.png(40, 30), "in.png")
        let second = try await place.kf("fetch", "in.png", "--json")
        #expect(try first.objects[0]["width"] as? Int == 20)
        #expect(try second.objects[0]["width"] as? Int == 40)
    }

    @Test(
        "An output that cannot be written is named",
        arguments: ["/proc/nothing/out.png", "in.png/out.png", "missing/out.png"]
    )
    func unwritableOutput(path: String) async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", source, "-o", path)
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.contains("cannot write \(path)"), "\(result.errors)")
    }

    @Test("A device is written to, not replaced") func deviceOutput() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", source, "-o", "/dev/null")
        #expect(result.status == 0, "\(result.errors)")
        var status = stat()
        #expect(stat("/dev/null", &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFCHR)
    }
}
