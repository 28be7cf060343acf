// Errors of `kf` for servers that misbehave, data that is not an image, and caches that cannot be used.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct BadInputTests {
    let place = TestDirectory()

    /// Fetches, and expects one line with these words and this code, and nothing in the cache.
    private func expectFailure(_ source: String, code: Int, words: String, arguments: [String] = []) async throws {
        let result = try await place.kf(["fetch", source, "--cache-dir", "cache", "-o", "out.png"] + arguments)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.hasPrefix("kf: \(Units.abbreviated(source)): "), "\(result.errors)")
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(place.files("cache") == [])
        #expect(!FileManager.default.fileExists(atPath: place.path("out.png")))
    }

    private func expectFailure(_ response: TestResponse, code: Int, words: String, arguments: [String] = [])
        async throws
    {
        try await withServer { server in
            let url = server.route("/a.png", response).absoluteString
            try await expectFailure(url, code: code, words: words, arguments: arguments)
        }
    }

    @Test("The error for an unsuccessful status names it", arguments: [404, 500])
    func failureStatus(status: Int) async throws {
        try await expectFailure(.status(status), code: 2002, words: "\(status)")
    }

    @Test("The error for a status without a body names it", arguments: [204, 205])
    func emptyStatus(status: Int) async throws {
        try await expectFailure(.status(status), code: 2002, words: "\(status)")
        try await expectFailure(.status(status), code: 2002, words: "which comes without an image")
    }

    @Test("The error for a redirect without a target says so") func redirectWithoutTarget() async throws {
        try await expectFailure(.status(302), code: 2002, words: "302")
        try await expectFailure(.status(302), code: 2002, words: "a redirect that does not say where to (code")
    }

    @Test(
        "Bytes that are not an image are refused",
        arguments: [
            ("an HTML page", Data("<!DOCTYPE html><html></html>".utf8), "HTML"),
            ("nothing", Data(), "no bytes"),
            ("noise", SampleImages.noise, "not an image"),
            ("a PNG of 60,000 × 60,000", SampleImages.bombPNG, "60000"),
            ("a GIF of 65,535 × 65,535", SampleImages.bombGIF, "65535"),
        ]
    )
    func notAImage(what: String, body: Data, words: String) async throws {
        try await expectFailure(.data(body, type: "image/png"), code: 4001, words: words)
    }

    @Test("A PNG without a single row is refused") func pngWithoutRows() async throws {
        try await expectFailure(.data(try SampleImages.png().prefix(40)), code: 4001, words: "PNG")
    }

    @Test("A truncated file gives pixels or an error", arguments: [0, 1, 100])
    func truncatedFile(left: Int) async throws {
        // The decoder decides which part of a truncated image is shown; nothing may crash either way.
        for data in [try SampleImages.png(), try SampleImages.jpeg()] {
            let source = try place.write(data.prefix(data.count * left / 101), "cut")
            let result = try await place.kf("fetch", source)
            #expect(result.status == 0 || result.status == 1)
        }
    }

    @Test("A file that does not exist is an error") func missingFile() async throws {
        try await expectFailure(
            "missing.png",
            code: 5003,
            words: "missing.png: cannot be read: No such file or directory (code"
        )
    }

    @Test(
        "A source that names nothing fails, and the other sources do not",
        arguments: [
            ("ftp://example.com/a.png", "\"ftp\" is not supported"), ("http://", "not a URL with a host"),
            ("data:image/png", "needs a comma"), ("file://elsewhere/a.png", "needs a path on this machine"),
        ]
    )
    func badSource(text: String, words: String) async throws {
        try await expectFailure(text, code: 9001, words: words)
        let good = try place.write(SampleImages.png(), "good.png")
        let result = try await place.kf("fetch", text, good, "-o", "out")
        #expect(result.status == 1)
        #expect(try place.data("out/good.png") == SampleImages.png())
    }

    // MARK: Caches that cannot be used

    @Test("A cache that cannot be written causes a warning", arguments: ["blocked/cache", "/proc/cache"])
    func unwritableCache(cache: String) async throws {
        try place.write(Data(), "blocked")
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", source, "--cache-dir", cache, "-o", "out.png")
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.hasPrefix("kf: warning: "))
        #expect(result.errors.contains("not cached"))
        #expect(try place.data("out.png") == SampleImages.png())
    }

    @Test("A missing cache directory is made") func missingCacheDirectory() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", source, "--cache-dir", "deep/down/cache")
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(place.files("deep").count == 1)
    }

    @Test("A damaged cache entry is downloaded again", arguments: ["truncated", "garbage", "empty"])
    func damagedEntry(damage: String) async throws {
        let image = try SampleImages.png()
        let server = try await TestServer.start()
        server.route("/a.png", .data(image))
        let arguments = [
            "fetch", server.url("/a.png").absoluteString, "--json", "--cache-dir", "cache", "-o", "out.png",
        ]
        _ = try await place.kf(arguments)
        let entry = try #require(place.files("cache").first)
        let bytes: [String: Data] = ["truncated": image.prefix(image.count / 2), "garbage": SampleImages.noise]
        // In place, as a broken disk would: the file keeps its times and attributes.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.path("cache/\(entry)")))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes[damage] ?? Data())
        try file.close()

        let result = try await place.kf(arguments)
        let count = server.count("/a.png")
        await server.stop()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.objects[0]["cacheType"] as? String == "none")
        #expect(count == 2)
        #expect(try place.data("out.png") == image)
        #expect(try place.data("cache/\(entry)") == image)
    }
}
