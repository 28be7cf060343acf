// The commands `kf info` and `kf cache`, run in processes of their own.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct InfoTests {
    let place = TestDirectory()

    @Test("Headers are described in JSON") func jsonInfo() async throws {
        try place.write(SampleImages.jpeg(), "a.jpg")
        try place.write(SampleImages.gif(), "a.gif")
        let result = try await place.kf("info", "--json", "a.jpg", "a.gif")
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(
            lines[0].hasPrefix(
                #"{"source":"a.jpg","format":"jpeg","width":60,"height":40,"orientation":1,"frames":1,"duration":null,"#
            )
        )
        #expect(
            lines[1].hasPrefix(
                #"{"source":"a.gif","format":"gif","width":30,"height":20,"orientation":1,"frames":2,"duration":0.2,"#
                    + #""loopCount":0,"#
            )
        )
    }

    /// The arguments are fixtures of the library's tests, which are described in the README beside them.
    @Test(
        "Every format is described",
        arguments: [
            (
                "animated.png",
                #""format":"png","width":24,"height":16,"orientation":1,"frames":3,"duration":0.35,"loopCount":3,"#
            ),
            (
                "animated.webp",
                #""format":"webp","width":24,"height":16,"orientation":1,"frames":3,"duration":0.35,"loopCount":2,"#
            ),
            (
                "sequence.avif",
                #""format":"avif","width":48,"height":48,"orientation":1,"frames":6,"duration":1.05,"loopCount":0,"#
            ),
            (
                "photo.avif",
                #""format":"avif","width":96,"height":64,"orientation":1,"frames":1,"duration":null,"loopCount":null,"#
            ),
            ("orientation-6.jpg", #""format":"jpeg","width":64,"height":96,"orientation":6,"frames":1,"#),
        ]
    )
    func formats(name: String, words: String) async throws {
        let result = try await place.kf("info", "--json", Catalogue.url(name).path)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains(words), "\(result.output)")
    }

    @Test("An image on a server is described without being decoded") func remoteInfo() async throws {
        let server = try await TestServer.start()
        server.route("/bomb.png", .data(SampleImages.bombPNG))
        let result = try await place.kf("info", server.url("/bomb.png").absoluteString)
        await server.stop()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("60000×60000 pixels"))
    }

    @Test("Comma-separated values are those of JSON, with quotes where they need them, and no failures")
    func commaSeparated() async throws {
        // In the last one an accent follows the comma, and makes one character with it.
        let names = ["a.jpg", "b, \"c\".png", "d,\u{301}.gif"]
        for (name, data) in zip(names, [try SampleImages.jpeg(), try SampleImages.png(), try SampleImages.gif()]) {
            try place.write(data, name)
        }
        let result = try await place.kf(["info", "--csv", "missing.png"] + names)
        #expect(result.status == 1 && result.errorLines.count == 1)
        // Read as others read it.
        let script = "import csv, json, sys; print(json.dumps(list(csv.DictReader(sys.stdin))))"
        let read = try await place.kf(
            ["info", "--csv"] + names,
            launcher: ["/bin/bash", "-c", "\"$@\" | python3 -c '\(script)'", "-"]
        )
        let rows = try #require(try JSONSerialization.jsonObject(with: read.data) as? [[String: String]])
        let objects = try await place.kf(["info", "--json"] + names).objects
        #expect(rows.map { $0["source"] } == names && objects.count == 3)
        for (row, object) in zip(rows, objects) {
            #expect(Set(row.keys) == Set(object.keys))
            #expect(row["width"] == "\(object["width"] ?? "")" && row["frames"] == "\(object["frames"] ?? "")")
        }
        #expect(rows[0]["duration"] == "" && rows[2]["duration"] == "0.2" && rows[0]["alpha"] == "false")
        #expect(result.output.split(separator: "\n").count == 4)
    }

    @Test("Names in comma-separated values are not rewritten; a terminal is shown a harmless form")
    func strangeNamesAsValues() async throws {
        let names = ["new\nline.png", "a\r\nb.png", "\u{202E}gnp.png", "\u{1B}[31m.png"]
        for name in names { try place.write(SampleImages.png(), name) }
        let output = try await place.kf(["info", "--csv"] + names).output
        for name in names.prefix(2) { #expect(output.contains("\n\"\(name)\",png,48,32,"), "\(output.visible)") }
        for name in names.suffix(2) { #expect(output.contains("\n\(name),png,48,32,"), "\(output.visible)") }
        let terminal = FakeTerminal(kind: .silent)
        let run = try await terminal.kf(place, ["info", "--csv", names[2]])
        #expect(run.text.contains("\\u{202E}gnp.png,png,48,32,"), "\(run.text.visible)")
        let script = "n=$(printf 'caf\\351.png'); cp *gnp.png \"$n\"; \"$0\" info --csv \"$n\""
        let bytes = try await place.kf([], launcher: ["/bin/sh", "-c", script])
        #expect(bytes.data.range(of: Data([0x0A, 0x63, 0x61, 0x66, 0xE9, 0x2E])) != nil, "\(bytes.errors)")
    }

    @Test("A file that ends too early is described, with a warning") func truncatedFile() async throws {
        let whole = try SampleImages.jpeg(120, 80)
        try place.write(whole, "whole.jpg")
        try place.write(whole.prefix(whole.count / 2), "cut.jpg")
        let result = try await place.kf("info", "--json", "whole.jpg", "cut.jpg")
        #expect(result.status == 0)
        #expect(try result.objects.map { $0["truncated"] as? Bool } == [false, true])
        #expect(result.errors == "kf: warning: cut.jpg: the file ends too early: the image may lack a part\n")
    }

    @Test("Sources are asked at once, and described in their order", .timeLimit(.minutes(5)))
    func sourcesAtOnce() async throws {
        let server = try await TestServer.start()
        let png = try SampleImages.png()
        // Nothing comes before both have been asked for.
        for (path, other) in [("/a.png", "/b.png"), ("/b.png", "/a.png")] {
            server.route(path) { [unowned server] _ in
                await server.waitForRequests(to: other)
                return .data(png)
            }
        }
        let urls = ["/a.png", "/b.png"].map { server.url($0).absoluteString }
        let result = try await place.kf(["info", "--json", "--timeout", "200"] + urls)
        await server.stop()
        #expect(result.status == 0, "\(result.errors)")
        #expect(try result.objects.map { $0["source"] as? String } == urls)
    }

    @Test("When one source fails, the others are still described") func infoAfterFailure() async throws {
        try place.write(SampleImages.png(), "a.png")
        try place.write(Data("hello".utf8), "a.txt")
        let result = try await place.kf("info", "a.txt", "missing", "a.png")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 2)
        #expect(result.errorLines[0].hasSuffix("(code 9004)"))
        #expect(result.output.contains("48×32 pixels"))
    }
}

@Suite(.tags(.processes)) struct CacheTests {
    let place = TestDirectory()

    private func fill() async throws -> [String] {
        for name in ["a", "b"] { try place.write(SampleImages.png(), "\(name).png") }
        let result = try await place.kf("fetch", "a.png", "b.png", "--json")
        return try result.objects.compactMap { $0["key"] as? String }
    }

    @Test("Fetched images are listed and counted") func listAndStats() async throws {
        let keys = try await fill()
        let list = try await place.kf("cache", "list", "--json")
        #expect(Set(try list.objects.compactMap { $0["key"] as? String }) == Set(keys))
        #expect(try list.objects.allSatisfy { $0["bytes"] as? Int == (try SampleImages.png().count) })
        let stats = try await place.kf("cache", "stats", "--json")
        #expect(try stats.objects[0]["entries"] as? Int == 2)
        #expect(try stats.objects[0]["bytes"] as? Int == 2 * SampleImages.png().count)
        #expect(try stats.objects[0]["expired"] as? Int == 0)
        let dates = try ["oldest", "newest"].map { name in
            try Date(#require(try stats.objects[0][name] as? String), strategy: .iso8601)
        }
        #expect(dates[0] <= dates[1] && abs(dates[1].timeIntervalSinceNow) < 600)
        #expect(try await place.kf("cache", "stats").output.contains(dates[1].formatted(.iso8601)))
        #expect(try await place.kf("cache", "clear").status == 0)
        let empty = try await place.kf("cache", "stats", "--json")
        #expect(try empty.objects[0]["oldest"] is NSNull && empty.objects[0]["entries"] as? Int == 0)
        _ = try await fill()
        for command in ["list", "stats"] {
            let text = try await place.kf("cache", command)
            #expect(text.status == 0)
            #expect(!text.output.isEmpty)
        }
    }

    @Test("A key is in the cache until it is removed") func removedKey() async throws {
        let keys = try await fill()
        #expect(try await place.kf("cache", "has", keys[0]).status == 0)
        #expect(try await place.kf("cache", "remove", keys[0]).status == 0)
        let gone = try await place.kf("cache", "has", keys[0])
        #expect(gone.status == 1)
        #expect(gone.output == "no\n")
        #expect(try await place.kf("cache", "remove", keys[0]).status == 1)
        #expect(try await place.kf("cache", "has", keys[1]).status == 0)
    }

    @Test("Expired entries are misses, and can be removed") func expiredEntries() async throws {
        let keys = try await fill()
        let folder = place.path("home-cache/com.onevcat.Kingfisher.ImageCache.kf")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(folder)/\(name)")
        }
        #expect(try await place.kf("cache", "has", keys[0]).status == 1)
        #expect(try await place.kf("cache", "remove", keys[0]).output == "removed\n")
        #expect(try await place.kf("cache", "list", "--json").objects.map { $0["key"] as? String } == [keys[1]])
    }

    @Test("A key that `list` abbreviates is found by its abbreviation") func abbreviatedKey() async throws {
        let name = String(repeating: "n", count: 120) + ".png"
        try place.write(SampleImages.png(), name)
        #expect(try await place.kf("fetch", name).status == 0)
        let line = try #require(try await place.kf("cache", "list").output.split(separator: "\n").last)
        let printed = String(try #require(line.split(separator: " ").last))
        try #require(printed.contains("…"))
        #expect(try await place.kf("cache", "has", printed).output == "yes\n")
        #expect(try await place.kf("cache", "remove", printed).output == "removed\n")
        #expect(try await place.kf("cache", "list").output == "")
    }

    @Test("Cleaning keeps entries that have not expired, clearing keeps none") func cleanAndClear() async throws {
        _ = try await fill()
        let clean = try await place.kf("cache", "clean", "--json")
        #expect(clean.output == "{\"removed\":0,\"bytes\":0}\n")
        let clear = try await place.kf("cache", "clear", "--json")
        #expect(clear.output == "{\"removed\":2,\"bytes\":\(2 * (try SampleImages.png().count))}\n")
        #expect(place.files("home-cache") == [])
        #expect(try await place.kf("cache", "list").output == "")
    }

    @Test("Clearing does not touch other files in the directory") func clearOnlyEntries() async throws {
        try place.write(SampleImages.png(), "a.png")
        _ = try await place.kf("fetch", "a.png", "--cache-dir", ".")
        let result = try await place.kf("cache", "clear", "--cache-dir", ".")
        #expect(result.status == 0)
        #expect(try place.data("a.png") == SampleImages.png())
    }

    @Test(
        "A file in place of the cache directory is an error",
        arguments: [["stats"], ["list"], ["has", "a"], ["remove", "a"], ["clean"], ["clear"]]
    )
    func fileAsDirectory(command: [String]) async throws {
        try place.write(Data(), "file")
        let result = try await place.kf(["cache"] + command + ["--cache-dir", "file"])
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("kf: "))
        #expect(result.errors.contains(place.path("file")))
        #expect(result.errorLines.count == 1)
    }

    @Test(
        "No cache command makes a directory",
        arguments: [["stats"], ["list"], ["has", "a"], ["remove", "a"], ["clean"], ["clear"]]
    )
    func noDirectoryMade(command: [String]) async throws {
        let result = try await place.kf(["cache"] + command + ["--cache-dir", "none"])
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errors == "kf: there is no cache in none; kf fetch --cache-dir none makes one\n")
        #expect(!FileManager.default.fileExists(atPath: place.path("none")))
        #expect(!FileManager.default.fileExists(atPath: place.path("home-cache")))
    }

    @Test("Before the first fetch the user's cache is empty, without an error", arguments: ["stats", "list", "clear"])
    func ownCacheBeforeTheFirstFetch(command: String) async throws {
        let result = try await place.kf("cache", command)
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(!FileManager.default.fileExists(atPath: place.path("home-cache")))
    }

    /// Files that no user may remove, root included: those of the kernel.
    @Test("A failed removal is an error that names the directory", arguments: ["clear", "clean"])
    func unremovableEntries(command: String) async throws {
        let kernel = "/proc/sys/kernel/random"
        try #require(!FileManager.default.contentsOfDirectory(atPath: kernel).isEmpty)
        let name = "com.onevcat.Kingfisher.ImageCache.kf"
        try FileManager.default.createSymbolicLink(atPath: place.path(name), withDestinationPath: kernel)
        let result = try await place.kf("cache", command, "--cache-dir", ".")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains(name), "\(result.errors)")
        #expect(result.errors.contains("could not be removed"), "\(result.errors)")
        #expect(result.output == "removed 0 entries, 0 B\n")
    }
}
