// Paths: sources, formats, presets, prefixes, expiry.

import Foundation
import KFImageURLs
import Testing

@Suite struct PathParserTests {
    private func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_")
    }

    @Test("A source in base64 is read with and without padding, and with slashes anywhere")
    func encodedSource() throws {
        for source in ["https://example.com/a.jpg", "https://example.com/ä?b=c>>>???", "x"] {
            let encoded = base64URL(source)
            let unpadded = encoded.replacingOccurrences(of: "=", with: "")
            let slashed = encoded.map { "\($0)" }.joined(separator: "/")
            for path in [encoded, unpadded, slashed, unpadded + ".", encoded + ".png"] {
                #expect(try parsed("/_/w:1/" + path).plan.source == source)
            }
        }
    }

    @Test("Doubled slashes before the source are one, and those in it stay")
    func doubledSlashes() throws {
        let expected = try parsed("/_/w:1/h:2/\(someSource)")
        for path in ["//_/w:1/h:2/", "/_//w:1/h:2/", "/_/w:1//h:2/", "/_/w:1/h:2//", "///_///w:1///h:2///"] {
            #expect(try parsed(path + someSource) == expected, "\(path)")
        }
        let presets = settings { ($0.presets, $0.allowsOnlyPresets) = (["a": ["w:1"]], true) }
        #expect(try parsed("//_//a//\(someSource)", settings: presets).plan == plan("w:1"))
        #expect(try parsed("/_//plain/https://example.com//a//").plan.source == "https://example.com//a//")
        #expect(try parsed("/_//w:1//aHR0cDov//L2EvYg").plan.source == "http://a/b")
    }

    @Test("A plain source is decoded once")
    func plainSource() throws {
        func source(_ text: String) throws -> String { try parsed("/_/plain/" + text).plan.source }
        #expect(try source("https://example.com/a%20b.jpg") == "https://example.com/a b.jpg")
        #expect(try source("https://example.com/a%2520b.jpg") == "https://example.com/a%20b.jpg")
        #expect(try source("https%3A%2F%2Fexample.com%2Fa.jpg%3Fb=c") == "https://example.com/a.jpg?b=c")
        #expect(try source("https://me%40example.com/a+b.jpg@png") == "https://me@example.com/a+b.jpg")
        #expect(try source("https://example.com//a.jpg?query") == "https://example.com//a.jpg")
    }

    @Test("A source keeps its bytes, whether they are UTF-8 or not, and equals no other that looks like it")
    func bytesOfSources() throws {
        func bytes(_ text: String) throws -> [UInt8] { try parsed("/_/" + text).plan.sourceBytes }
        #expect(try bytes("plain/local:///caf%E9.png") == Array("local:///caf".utf8) + [0xE9] + Array(".png".utf8))
        #expect(try bytes("plain/local:///caf%e9.png") == bytes("plain/local:///caf%E9.png"))
        #expect(try bytes("plain/local:///caf%25E9.png") == Array("local:///caf%E9.png".utf8))
        #expect(try bytes("_____w") == [0xFF, 0xFF, 0xFF, 0xFF])
        let (composed, decomposed) = ("plain/local:///%C3%A9.png", "plain/local:///e%CC%81.png")
        #expect(try parsed("/_/" + composed).plan != parsed("/_/" + decomposed).plan)
    }

    static let badSources = [
        "", "plain/", "plain", "plain/@png", "plain/a@png@png", "plain/a%zz", "plain/a%", "plain/a%0Ab",
        "!!!", "a", "aHR0cA.png.png", ".png", "aHR0+cA", "enc/aHR0cDovL2EvYg", "-/w:1/aHR0cDovL2EvYg",
        "aHR0cDovL2EvYg/w:10", "w:10",
    ]

    @Test("What is no source is not found", arguments: badSources)
    func badSource(_ source: String) {
        #expect(error(of: "/_/w:1/" + source)?.status == 404)
    }

    @Test(
        "A path without a signature or options is not found",
        arguments: ["", "/", "//", "/_", "_/w:1/\(someSource)", "///"]
    )
    func malformed(_ path: String) {
        #expect(error(of: path)?.status == 404)
    }

    @Test("The extension comes before the option, and counts for nothing where the source is sent as it is")
    func formats() throws {
        #expect(try parsed("/_/f:png/\(someSource)@webp").plan.output.format == .webp)
        #expect(try parsed("/_/f:png/\(someSource)@").plan.output.format == .png)
        #expect(try parsed("/_/f:jpg/\(someSource)").plan.output.format == .jpeg)
        #expect(try parsed("/_/raw:1/f:png/\(someSource)@webp").plan.output.format == .png)
        #expect(try parsed("/_/raw:1/\(someSource)@nonsense").plan.output.format == nil)
        #expect(error(of: "/_/\(someSource)@nonsense") == .unknownFormat(name: "nonsense"))
    }

    @Test("The formats that are sent as they are are the server's and the URL's")
    func keptFormats() throws {
        let keeping = settings { $0.keptFormats = [.webp, .svg] }
        #expect(try plan("skp:jpg", settings: keeping).output.keptFormats == [.webp, .svg, .jpeg])
        #expect(
            ServerConfiguration.read(["IMGPROXY_SKIP_PROCESSING_FORMATS": "webp,svg"]).configuration.urls == keeping
        )
    }

    @Test("A format that is known but cannot be written is 422, unless nothing is written")
    func unwritableFormat() throws {
        let error = error(of: "/_/\(someSource)@heic")
        #expect(error == .formatNotWritable(.heic))
        #expect(error?.status == 422)
        _ = try parsed("/_/skp:heic/\(someSource)@heic")
        _ = try parsed("/_/raw:1/\(someSource)@heic")
        _ = try parsed("/_/\(someSource)@heic", settings: settings { $0.writableFormats.insert(.heic) })
    }

    @Test("A later option comes before an earlier one, argument by argument")
    func overwriting() throws {
        #expect(try plan("rs:fill:100:200/w:50") == plan("w:50/rs:fill::200"))
        #expect(try plan("rs:fill:100:200:1/rs:fit") == plan("rs:fit:100:200:1"))
        #expect(try plan("g:no:10:20/g:so") == plan("g:so:10:20"))
        #expect(try plan("g:no/g::5") == plan("g:no:5"))
        #expect(try plan("pd:10:20/pd:::30") == plan("pd:10:20:30:20"))
        #expect(try plan("w:1/h:2/q:3") == plan("q:3/h:2/w:1"))
    }

    @Test("A boolean that is none is off, with a warning that names it")
    func booleans() throws {
        for word in ["1", "t", "T", "TRUE", "true", "True"] { #expect(try plan("el:\(word)").resizing.enlarges) }
        for word in ["0", "f", "F", "FALSE", "false", "False"] {
            let result = try parsed("/_/ar:\(word)/\(someSource)")
            #expect(!result.plan.turning.followsOrientation)
            #expect(result.warnings.isEmpty)
        }
        let result = try parsed("/_/el:1/el:yes/\(someSource)")
        #expect(!result.plan.resizing.enlarges)
        #expect(result.warnings.count == 1)
        #expect(result.warnings.first?.contains("yes") == true)
    }

    @Test("Presets apply where they stand, and the default one before all")
    func presets() throws {
        let presets = settings {
            $0.presets = ["default": ["q:50", "w:1"], "small": ["w:10", "pr:square"], "square": ["rt:fill", "h:10"]]
        }
        #expect(try plan("", settings: presets).output.quality == 50)
        #expect(try plan("w:20/pr:small", settings: presets) == plan("q:50/rs:fill:10:10"))
        #expect(try plan("pr:small/w:20", settings: presets) == plan("q:50/rs:fill:20:10"))
        #expect(try plan("preset:small:square", settings: presets) == plan("q:50/rs:fill:10:10"))
        #expect(error(ofOptions: "pr:large", settings: presets) == .unknownPreset(name: "large"))
    }

    @Test("A preset that contains itself is applied once, with a warning")
    func recursion() throws {
        let presets = settings {
            $0.presets = ["a": ["w:1", "pr:b"], "b": ["pr:a:b", "h:2"], "default": ["pr:default"]]
        }
        let result = try parsed("/_/pr:a/\(someSource)", settings: presets)
        #expect(result.plan == (try plan("w:1/h:2")))
        #expect(result.warnings.count == 3)
    }

    @Test("With presets only, the first segment is names of presets and nothing else")
    func onlyPresets() throws {
        let presets = settings {
            $0.presets = ["a": ["w:1"], "b": ["h:2"], "default": ["q:3"]]
            $0.allowsOnlyPresets = true
        }
        #expect(try parsed("/_/a:b/\(someSource)@png", settings: presets).plan == plan("w:1/h:2/q:3/f:png"))
        #expect(try parsed("/_/a/\(someSource)", settings: presets).plan == plan("w:1/q:3"))
        #expect(error(of: "/_/w:1/\(someSource)", settings: presets) == .unknownPreset(name: "w"))
        #expect(error(of: "/_/a/w:1/\(someSource)", settings: presets)?.status == 404)
        #expect(error(of: "/_/a", settings: presets)?.status == 404)
    }

    @Test("Paths begin with the prefix, as a whole segment")
    func prefix() throws {
        let prefixed = settings { $0.prefix = "/img/v1" }
        #expect(try parsed("/img/v1/_/w:1/\(someSource)", settings: prefixed).plan == plan("w:1"))
        for path in ["/_/w:1/", "/img/_/w:1/", "/img/v10/_/w:1/", "/img/v1"] {
            #expect(error(of: path + someSource, settings: prefixed)?.status == 404)
        }
    }

    @Test("The base URL is put before sources that do not begin with it")
    func baseURL() throws {
        let based = settings { $0.baseURL = "https://example.com/" }
        #expect(try parsed("/_/plain/a.jpg", settings: based).plan.source == "https://example.com/a.jpg")
        #expect(try parsed("/_/\(someSource)", settings: based).plan.source == "https://example.com/a.jpg")
        #expect(
            try parsed("/_/plain/http://evil.org", settings: based).plan.source == "https://example.com/http://evil.org"
        )
    }

    @Test("A URL is not found from the second on after it has expired")
    func expiry() throws {
        #expect(error(ofOptions: "exp:1767254399") == .expired)
        #expect(RequestError.expired.status == 404)
        #expect(try plan("exp:1767254400").delivery.expirationDate == Date(timeIntervalSince1970: 1_767_254_400))
        #expect(try plan("exp:0").delivery.expirationDate == nil)
        #expect(error(ofOptions: "exp:1/exp:") == .expired)
    }

    @Test("Only allowed sources are read, whatever part of the URL imitates them")
    func allowedSources() throws {
        let allowing = settings {
            $0.allowedSources = ["https://*.example.com/", "local:///photos/"].map(SourcePattern.init)
        }
        for source in ["https://a.example.com/x", "https://a.b.example.com/", "local:///photos/a.jpg"] {
            _ = try parsed("/_/plain/" + source, settings: allowing)
        }
        for source in [
            "https://example.com/x", "http://a.example.com/x", "https://evil.org/.example.com/", "local:///photo",
            "https://evil.org%3F.example.com/", "https://evil.org%23.example.com/", "https://evil.org%40a.example.com/",
            "https://evil.org%5C.example.com/", "https://a.example.com.evil.org/", "https://a.example.com",
            "local:///photos/../private/a.jpg", "local:///photos/%252e%252E/private/a.jpg", "local:///photos/a/..",
            "https://a.example.com/x/..%252fy", "https://a.example.com/x/..%252f%CC%81y",
            "https://a.example.com/x/..%5Cy", "https://a.example.com/./x",
        ] {
            #expect(error(of: "/_/plain/" + source, settings: allowing)?.status == 404, "\(source)")
        }
    }

    @Test("Patterns with several stars take no more time than the source is long", .timeLimit(.minutes(1)))
    func longSources() {
        let pattern = SourcePattern("https://*.s3.*.a*.com/")
        let dots = String(repeating: ".s3.", count: 250_000)
        #expect(!pattern.matches("https://\(dots)/".utf8))
        #expect(pattern.matches("https://x\(dots).amazonaws.com/".utf8))
        for (pattern, source, isMatch) in [
            ("a*/b*", "aa/bc", true), ("a*/b*", "aa/cb", false), ("*", "", true), ("", "a", true),
            ("*a", "/a", false),
        ] {
            #expect(SourcePattern(pattern).matches(source.utf8) == isMatch, "\(pattern) \(source)")
        }
    }

    @Test("Unknown options are named, those of the paid edition too")
    func unknownOptions() {
        for name in [
            "nonsense", "W", "rsa", "ra", "oc", "pp", "gr", "mc", "dp", "jpgo", "pg", "vts", "wmu", "st", "hs",
        ] {
            let error = error(ofOptions: name + ":1")
            #expect(error == .unknownOption(name: name))
            #expect(error?.status == 404)
            #expect(error?.reason.contains("\"\(name)\"") == true)
        }
        #expect(error(ofOptions: ":1")?.status == 404)
    }

    @Test("Options that change limits need the configuration's permission")
    func securityOptions() throws {
        for option in ["msr:1.5", "msfs:1000", "maf:3", "mafr:1", "mrd:500"] {
            #expect(error(ofOptions: option)?.status == 403)
            _ = try plan(option, settings: settings { $0.allowsSecurityOptions = true })
        }
    }

    @Test("Reasons are short and have no control characters")
    func reasons() {
        let error = error(ofOptions: "w:" + String(repeating: "\u{1B}x", count: 5000))
        #expect((error?.reason.count ?? 0) < 200)
        #expect(error?.reason.unicodeScalars.contains { $0.value < 0x20 } == false)
    }

    @Test("The path of an upload has options and no source, and may ask for what is known") func uploads() throws {
        func upload(_ path: String, _ change: (inout URLSettings) -> Void = { _ in }) throws -> ParsedUpload {
            try PathParser(settings: settings(change)).parseUpload(path)
        }
        let some = try upload("/_/w:1//h:2/f:webp?query")
        #expect(some.plan.resizing.width == 1 && some.plan.resizing.height == 2 && some.plan.output.format == .webp)
        #expect(some.plan.sourceBytes.isEmpty && !some.wantsFacts)
        #expect(try upload("/_/info").wantsFacts && upload("/_/w:1/info").wantsFacts)
        #expect(try !upload("/_/").wantsFacts)
        #expect(try upload("/img/_/w:1") { $0.prefix = "/img" }.plan.resizing.width == 1)
        func onlyPresets(_ settings: inout URLSettings) {
            (settings.presets, settings.allowsOnlyPresets) = (["a": ["w:1"]], true)
        }
        #expect(try upload("/_/a", onlyPresets).plan.resizing.width == 1)
        #expect(try upload("/_/info", onlyPresets).wantsFacts)
        for path in ["/_", "/_/w:1/plain/https://example.com/a", "/_/info/w:1", "/_/w:1/aHR0cDovL2EvYg"] {
            #expect(throws: RequestError.self, "\(path)") { try upload(path) }
        }
        let expired = #expect(throws: RequestError.self) { try upload("/_/exp:1") }
        #expect(expired == .expired)
        let unwritable = #expect(throws: RequestError.self) { try upload("/_/f:webp") { $0.writableFormats = [.png] } }
        #expect(unwritable == .formatNotWritable(.webp))
    }
}
