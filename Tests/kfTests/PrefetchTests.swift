// `kf prefetch` against real servers, real lists and a real cache.

import Foundation
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct PrefetchTests {
    let place = TestDirectory()

    private func list(_ lines: String...) throws -> String {
        try place.write(Data(lines.joined(separator: "\n").utf8), "list.txt")
    }

    @Test("What is listed is in the cache afterwards, and is not loaded again") func listedImages() async throws {
        try await withServer { server in
            for path in ["/a.png", "/b.png"] { server.route(path, .data(try SampleImages.png())) }
            let file = try place.write(SampleImages.jpeg(), "c.jpg")
            let (a, b) = (server.url("/a.png").absoluteString, server.url("/b.png").absoluteString)
            let list = try list("# images", "", "  \(a)\r", b, a, file)
            let first = try await place.kf("prefetch", list)
            #expect(first.status == 0 && first.errors == "")
            #expect(first.output == "4 downloaded, 0 already cached, 0 failed\n")
            let second = try await place.kf("prefetch", list)
            #expect(second.status == 0)
            #expect(second.output == "0 downloaded, 4 already cached, 0 failed\n")
            #expect(server.requests.count == 2)
            let fetched = try await place.kf("fetch", a, file, "--only-cache", "--json")
            #expect(try fetched.objects.map { $0["cacheType"] as? String } == ["disk", "disk"])
            #expect(try await place.kf("prefetch", list, "--refresh", "--quiet").output == "")
            #expect(server.requests.count == 4)
        }
    }

    @Test("A damaged image is not kept, and causes a warning", arguments: [[], ["--process", "bw()"]])
    func damagedImages(pipeline: [String]) async throws {
        try place.write(SampleImages.jpeg().dropLast(200), "cut.jpg")
        try place.write(SampleImages.jpeg(), "whole.jpg")
        let result = try await place.kf(["prefetch", try list("cut.jpg", "whole.jpg")] + pipeline)
        #expect(result.status == 0 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.hasPrefix("kf: warning: cut.jpg: loaded, but not in the cache, which keeps no damaged"))
        #expect(result.output == "2 downloaded, 0 already cached, 0 failed\n")
    }

    @Test("With a pipeline the processed image is cached, as fetch makes it") func pipelines() async throws {
        try await withServer { server in
            let url = server.route("/a.jpg", .data(try SampleImages.jpeg(90, 60))).absoluteString
            let pipeline = ["--process", "downsample(30x30)|>round(8)"]
            let prefetched = try await place.kf(["prefetch", try list(url), "--json"] + pipeline)
            let fetched = try await place.kf(["fetch", url, "--json", "--only-cache", "-o", "a.png"] + pipeline)
            #expect(fetched.status == 0 && server.requests.count == 1)
            #expect(try fetched.objects[0]["cacheType"] as? String == "disk")
            #expect(try fetched.objects[0]["key"] as? String == prefetched.objects[0]["key"] as? String)
        }
    }

    @Test("Each source that failed has one line, and the others are loaded") func failures() async throws {
        let refusing = try RefusingPort()
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            server.route("/reset.png", TestResponse().with { $0.interruption = .resetBeforeHead })
            let urls = ["/missing.png", "/reset.png", "/a.png"].map { server.url($0).absoluteString }
            let list = try list(
                "http://someone:s3cret@127.0.0.1:\(refusing.number)/a.png?token=t0ken",
                urls[0],
                urls[1],
                "ftp://host/a.png",
                "-",
                urls[2],
                "missing.png"
            )
            let result = try await place.kf("prefetch", list, "--timeout", "240")
            #expect(result.status == 1)
            #expect(result.output == "1 downloaded, 0 already cached, 6 failed\n")
            let words = [
                "refused the connection; is the server running", "404", "was lost", "\"ftp\" is not supported",
                "pipes, and files whose names",
                "missing.png",
            ]
            #expect(result.errorLines.count == words.count)
            for (line, words) in zip(result.errorLines, words) {
                #expect(line.hasPrefix("kf: ") && line.contains(words), "\(line)")
            }
            for secret in ["s3cret", "t0ken"] { #expect(!result.errors.contains(secret)) }
        }
    }

    @Test("There is one line of JSON for each source, in order, and one for the summary") func jsonLines() async throws
    {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()).with { $0.delay = .milliseconds(100) })
            let urls = ["/a.png", "/missing.png"].map { server.url($0).absoluteString }
            let list = try list(urls[0], urls[1], "ftp://host/a")
            for (round, status) in ["downloaded", "cached"].enumerated() {
                let result = try await place.kf("prefetch", list, "--json", "--quiet")
                #expect(result.status == 1 && result.errorLines.count == 2)
                let objects = try result.objects
                #expect(objects.map { $0["source"] as? String } == urls + ["ftp://host/a", nil])
                #expect(objects.map { $0["status"] as? String } == [status, "failed", "failed", nil])
                #expect(objects[0]["key"] as? String == urls[0])
                let error = try #require(objects[1]["error"] as? [String: Any])
                #expect(error["code"] as? Int == 2002 && error["reason"] as? String == "invalidHTTPStatusCode")
                let counts = ["downloaded", "cached", "failed", "stopped"].map { objects[3][$0] as? Int }
                #expect(counts == [1 - round, round, 2, 0])
            }
        }
    }

    @Test("The list may come from standard input", arguments: [[], ["--json"]])
    func standardInput(arguments: [String]) async throws {
        try await withServer { server in
            server.route("/a.png", .data(try SampleImages.png()))
            let input = Data("\u{FEFF}\(server.url("/a.png").absoluteString)\n".utf8)
            let result = try await place.kf(["prefetch", "-"] + arguments, input: input)
            #expect(result.status == 0)
            #expect(result.output.contains(arguments.isEmpty ? "1 downloaded, 0 already" : #""downloaded":1,"#))
        }
    }

    @Test("An empty list is no failure") func emptyList() async throws {
        for lines in ["", "\n\n# nothing\n"] {
            let result = try await place.kf("prefetch", try list(lines))
            #expect(result.status == 0 && result.errors == "")
            #expect(result.output == "0 downloaded, 0 already cached, 0 failed\n")
        }
    }

    @Test("A list that cannot be read is one line, and a failure") func unreadableList() async throws {
        try place.write(SampleImages.png(), "image.png")
        for (name, words) in [
            ("none.txt", "No such file or directory"), ("image.png", "the file is no text"), ("/", "Is a directory"),
        ] {
            let result = try await place.kf("prefetch", name)
            #expect(result.status == 1 && result.output == "" && result.errorLines.count == 1)
            #expect(result.errors.hasPrefix("kf: cannot read the list \(name): \(words)"), "\(result.errors)")
        }
    }

    @Test("Ctrl-C stops, counts what has not ended, and ends the process as the signal would", .timeLimit(.minutes(5)))
    func interruption() async throws {
        try await withServer { server in
            let image = try SampleImages.png()
            server.route("/a.png", .data(image))
            server.route("/b.png", .data(image).with { $0.interruption = .stall(after: 10) })
            server.route("/c.png", .data(image))
            let urls = ["/a.png", "/b.png", "/c.png"].map { server.url($0).absoluteString }
            let list = try list(urls[0], urls[1], urls[2])
            for json in [false, true] {
                let arguments = ["prefetch", list, "--concurrency", "1", "--timeout", "240"] + (json ? ["--json"] : [])
                let requests = server.count("/b.png") + 1
                let result = try await place.kf(arguments) { process in
                    Task {
                        await server.waitForRequests(requests, to: "/b.png")
                        kill(process, SIGINT)
                    }
                }
                #expect(result.status == -SIGINT)
                if json {
                    let statuses = try result.objects.map { $0["status"] as? String }
                    #expect(statuses == ["cached", "stopped", "stopped", nil])
                } else {
                    #expect(result.output == "1 downloaded, 0 already cached, 0 failed, 2 stopped\n")
                }
            }
            #expect(server.count("/c.png") == 0)
        }
    }

    @Test("A progress bar is shown on a terminal, and is gone in the end", .timeLimit(.minutes(5)))
    func progressBar() async throws {
        try await withServer { server in
            server.route("/b.png", .data(try SampleImages.png()).with { $0.interruption = .stall(after: 10) })
            let list = try list(server.url("/b.png").absoluteString)
            var terminal = FakeTerminal(kind: .silent, signal: SIGINT)
            (terminal.showsErrors, terminal.marks) = (true, ["] 0/1"])
            let run = try await terminal.kf(place, "prefetch", list, "--timeout", "240")
            #expect(run.status == -SIGINT)
            #expect(run.text.contains("\r\u{1B}[K"), "\(run.text)")
        }
    }
}
