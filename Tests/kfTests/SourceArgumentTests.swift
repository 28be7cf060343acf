// The meaning of a SOURCE on the command line.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite struct SourceArgumentTests {
    @Test(
        "Web addresses are loaded from the network",
        arguments: ["http://127.0.0.1:8080/a.png?w=1", "HTTPS://example.com/ä b.jpg"]
    )
    func webAddresses(text: String) throws {
        guard case .network(let url) = try SourceArgument(text).location else {
            Issue.record("\(text) is not taken for an address")
            return
        }
        #expect(url.scheme?.lowercased().hasPrefix("http") == true)
    }

    @Test(
        "Escapes in addresses stay beside characters that need them",
        arguments: [
            ("http://h/a%20b c.png", "http://h/a%20b%20c.png"),
            ("http://h/ä%C3%A4?q=%26 ", "http://h/%C3%A4%C3%A4?q=%26%20"),
            ("http://h/100%.png", "http://h/100%25.png"),
            ("https://bücher.de/%C3%BC ü", "https://xn--bcher-kva.de/%C3%BC%20%C3%BC"),
        ]
    )
    func escapes(text: String, url: String) throws {
        #expect(try SourceArgument(text).location == .network(#require(URL(string: url))))
    }

    @Test(
        "Paths and file URLs name files",
        arguments: [
            ("/tmp/a.png", "/tmp/a.png"),
            ("file:///tmp/a%20b.png", "/tmp/a b.png"),
            ("file:///tmp/a%20b c%.png", "/tmp/a b c%.png"),
            ("file://localhost/tmp/a.png", "/tmp/a.png"),
            ("file:/tmp/a.png", "/tmp/a.png"),
            ("/tmp/12:30.png", "/tmp/12:30.png"),
            ("/tmp/100%.png", "/tmp/100%.png"),
        ]
    )
    func files(text: String, path: String) throws {
        guard case .file(let url) = try SourceArgument(text).location else {
            Issue.record("\(text) is not taken for a file")
            return
        }
        #expect(url.path == path)
    }

    @Test("Relative paths start at the working directory") func relativePaths() throws {
        guard case .file(let url) = try SourceArgument("pictures/a.png").location else {
            Issue.record("a path is not taken for a file")
            return
        }
        #expect(url.path == FileManager.default.currentDirectoryPath + "/pictures/a.png")
    }

    @Test(
        "Data URLs carry their bytes",
        arguments: [
            ("data:text/plain,a%20b%2c", "a b,"),
            ("data:,", ""),
            ("data:;base64,aGVsbG8=", "hello"),
            ("data:image/png;BASE64,aGVsbG8", "hello"),
            ("data:image/png; base64,aGVsbG8", "hello"),
            ("data:,100%", "100%"),
            ("data:;base64,aGVs%0AbG8%3D", "hello"),
            ("data:;base64,_-8=", "\u{FFFD}"),
        ]
    )
    func dataURLs(text: String, bytes: String) throws {
        guard case .bytes(let data) = try SourceArgument(text).location else {
            Issue.record("\(text) is not taken for bytes")
            return
        }
        if text.contains("_-") {
            #expect(data == Data([0xFF, 0xEF]))
        } else {
            #expect(data == Data(bytes.utf8))
        }
    }

    @Test("A data URL is loaded by the library's provider, under a short key") func dataURLSource() async throws {
        let source = try SourceArgument("data:;base64,\(String(repeating: "aGVs", count: 500))").source
        guard case .provider(let provider) = source else {
            Issue.record("a data URL is downloaded")
            return
        }
        #expect(try await provider.data() == Data(String(repeating: "hel", count: 500).utf8))
        #expect(source.cacheKey.utf8.count < 100)
    }

    @Test(
        "A source that names no image is refused with a reason",
        arguments: [
            ("", "empty"),
            ("http://", "URL with a host"),
            ("http:///a.png", "URL with a host"),
            ("https:a.png", "URL with a host"),
            ("file://elsewhere/a.png", "path on this machine"),
            ("ftp://example.com/a.png", "\"ftp\" is not supported"),
            ("data:image/png", "needs a comma"),
            ("data:;base64,a", "Base64 is malformed"),
            ("data:;base64,a*bc", "Base64 is malformed"),
        ]
    )
    func badSources(text: String, words: String) throws {
        let error = try #require(throws: SourceArgumentError.self) { try SourceArgument(text) }
        #expect(error.problem.contains(words), "\(error.problem)")
        #expect(error.text == text)
    }

    @Test(
        "File names made of sources are those of the sources, but for what no name can have",
        arguments: [
            ("http://h/a/photo.large.jpg?x=1", "photo.large"),
            ("http://h/", "h"),
            ("http://h/a%2Fb.png", "a_b"),
            ("http://h/a%0Ab%1B%5B31m%07%C2%9B%E2%80%AE.png", "a_b_[31m___"),
            ("/tmp/\u{202E}gnp.png", "\u{202E}gnp"),
            ("/tmp/new\nline\t.png", "new\nline\t"),
            ("/tmp/e\u{301}.\u{301}.png", "e\u{301}.\u{301}"),
            ("/tmp/.hidden", ".hidden"),
            ("/", "image"),
            ("data:,x", "data"),
        ]
    )
    func baseNames(text: String, name: String) throws {
        #expect(try SourceArgument(text).baseName(longest: 245) == name)
    }

    @Test("A file name made of a long source is cut between characters") func longBaseName() throws {
        let long = String(repeating: "ä", count: 4000)
        #expect(try SourceArgument("/\(long).png").baseName(longest: 245).utf8.count == 244)
        #expect(try SourceArgument("http://h/\(long).png").baseName(longest: 100).utf8.count == 100)
        #expect(try SourceArgument("/\(long).png").baseName(longest: 1) == "image")
        // One byte each, which need not be UTF-8.
        let bytes = String(systemName: [UInt8](repeating: 0xE9, count: 245))
        #expect(try SourceArgument("/\(bytes).png").baseName(longest: 245) == bytes)
    }

    @Test(
        "What a pattern adds to a name is left for it",
        arguments: [
            ("{name}", 245), ("out/{name}.webp", 240), ("{name}/{width}-{height}.webp", 245),
            ("a/{name}-{width}/b-{name}", 237), ("{name}{name}", 122), ("{width}.png", 245),
            (String(repeating: "a", count: 300) + "{name}", 1),
        ]
    )
    func longestStem(pattern: String, bytes: Int) throws {
        #expect(try #require(try OutputTemplate(pattern)).longestStem == bytes)
    }
}
