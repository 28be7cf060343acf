// The messages of the tool: they name sources, causes and limits, and contain no control characters.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct MessageTests {
    let place = TestDirectory()

    @Test("Control characters in names from a server reach neither the terminal nor names of files")
    func controlCharacters() async throws {
        try await withServer { server in
            let path = "/a%1B%5B31m%0Ab%07.png"
            let url = server.route(path, .data(try SampleImages.png())).absoluteString
            let fetch = try await place.kf("fetch", url, "-o", "out/")
            #expect(fetch.status == 0, "\(fetch.errors)")
            #expect(place.files("out") == ["a_[31m_b_.png"])
            try place.write(SampleImages.png(), "c\u{1B}[31m\nd\u{9B}.png")
            let missing = "e\u{7}.png"
            for command in ["info", "fetch", "hash"] {
                let result = try await place.kf([command, "c\u{1B}[31m\nd\u{9B}.png", missing])
                #expect(result.output.contains("c\\u{1B}[31m\\u{A}d\\u{9B}.png"), "\(result.output)")
                #expect(result.errors.contains("e\\u{7}.png"), "\(result.errors)")
                let said = (result.output + result.errors).unicodeScalars
                #expect(!said.contains { $0.steersTerminals && $0 != "\n" })
                #expect(result.errorLines.count == 1)
            }
        }
    }

    @Test("An error names its source once")
    func sourceOnce() async throws {
        try await withServer { server in
            server.route("/large.png", .data(Data("hello".utf8)).with { $0.interruption = .cut(after: 2) })
            for path in ["/missing.png", "/large.png"] {
                let url = server.url(path).absoluteString
                for command in ["fetch", "info"] {
                    let errors = try await place.kf(command, url).errors
                    #expect(errors.hasPrefix("kf: \(url): "))
                    #expect(errors.components(separatedBy: url).count == 2, "\(errors)")
                }
            }
        }
        let path = place.path("missing.png")
        let errors = try await place.kf("fetch", path).errors
        // Long paths are abbreviated.
        #expect(errors.components(separatedBy: Units.source(path)).count == 2, "\(errors)")
    }

    @Test("An error has one code, and no word in place of the source's name")
    func plainSentences() async throws {
        try await withServer { server in
            server.route("/loop.png", .redirect(to: "/loop.png"))
            let sources = [
                server.url("/loop.png").absoluteString, server.url("/missing.png").absoluteString,
                "http://127.0.0.1:1/a.png", "missing.png",
            ]
            let result = try await place.kf(["fetch"] + sources)
            #expect(result.errorLines.count == sources.count)
            for line in result.errorLines {
                #expect(line.components(separatedBy: "(code ").count == 2, "\(line)")
                #expect(!line.contains("(URL error") && !line.contains(": it "), "\(line)")
            }
        }
    }

    @Test("A damaged image is written as far as it can be decoded, with a warning")
    func damagedImages() async throws {
        let whole = try SampleImages.jpeg(120, 80)
        try place.write(whole, "whole.jpg")
        try place.write(whole.prefix(whole.count / 2), "cut.jpg")
        let warning = "kf: warning: cut.jpg: the image is damaged: a part of it is missing\n"
        for arguments in [["fetch"], ["fetch", "--process", "bw()"], ["process", "--process", "bw()"]] {
            let result = try await place.kf(arguments + ["cut.jpg", "whole.jpg", "-o", "out"])
            #expect(result.status == 0)
            #expect(result.errors == warning)
            #expect(place.files("out").count == 2)
        }
        let fetch = try await place.kf("fetch", "--json", "--refresh", "cut.jpg", "whole.jpg")
        #expect(try fetch.objects.map { $0["damaged"] as? Bool } == [true, false])
    }

    @Test("Errors about unusable bytes say briefly what is wrong with them")
    func imagingReasons() async throws {
        try place.write(Data("<!DOCTYPE html><html></html>".utf8), "page.png")
        try place.write(SampleImages.bombPNG, "bomb.png")
        let result = try await place.kf("fetch", "--json", "page.png", "bomb.png", "missing.png")
        let errors = try result.objects.map { try #require($0["error"] as? [String: Any]) }
        #expect(errors.map { $0["code"] as? Int } == [4001, 4001, 5003])
        #expect(errors.map { $0["imaging"] as? String } == ["unrecognizedFormat", "limitExceeded", nil])
        let info = try await place.kf("info", "--json", "page.png")
        let error = try #require(try info.objects[0]["error"] as? [String: Any])
        #expect(error["imaging"] as? String == "unrecognizedFormat")
    }

    @Test("An animation beyond the limit is refused with the name and the value of the limit, its still is not")
    func tooManyFrames() async throws {
        try place.write(SampleImages.gif(Array(repeating: SampleImages.gradient(1, 1), count: 10_007)), "in.gif")
        let words = "the animation of 10007 frames exceeds the limit maxFrameCount = 10000"
        for arguments in [["fetch"], ["fetch", "--process", "downsample(1x1)", "-o", "a.webp"]] {
            let result = try await place.kf(arguments + ["in.gif", "--memory-only"])
            #expect(result.status == 1)
            #expect(result.errors.contains(words), "\(result.errors)")
        }
        let process = ["process", "in.gif", "--process", "round(0)", "-o", "b.webp"]
        #expect(try await place.kf(process).errors.contains(words))
        #expect(try await place.kf(process + ["--still"]).status == 0)
        let still = try await place.kf("fetch", "in.gif", "--still", "-o", "c.png", "--memory-only")
        #expect(still.status == 0, "\(still.errors)")
        #expect(try await place.kf("info", "--json", "in.gif").objects[0]["frames"] as? Int == 10_007)
    }

    @Test("An interrupted load leaves no bar on the terminal", .timeLimit(.minutes(5)), arguments: [SIGINT, SIGTERM])
    func interruption(signal: Int32) async throws {
        let image = try SampleImages.png()
        try await withServer { server in
            server.route("/a.png", .data(image).with { $0.interruption = .stall(after: 10) })
            var terminal = FakeTerminal(kind: .silent, signal: signal)
            (terminal.showsErrors, terminal.marks) = (true, ["] 0/1"])
            let run = try await terminal.kf(place, "fetch", server.url("/a.png").absoluteString, "--timeout", "240")
            #expect(run.status == -signal)
            #expect(run.text.hasSuffix("\r\u{1B}[K"), "\(run.text)")
        }
    }
}
