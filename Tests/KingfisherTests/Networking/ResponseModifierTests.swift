// Response modifiers: who is given what they return, and what their refusal does.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct ResponseModifierTests {
    private let refusing = AnyResponseModifier { _ in nil }

    @Test("Status and fields are replaced, and all other fields stay") func fields() async throws {
        let response = try #require(
            HTTPURLResponse(
                url: fakeURL,
                statusCode: 404,
                httpVersion: nil,
                headerFields: ["ETag": "\"a\"", "X-Name": "old"]
            )
        )
        let modifier = AnyResponseModifier(statusCode: 200, headers: ["x-name": "new"])
        let modified = try #require(await modifier.modified(for: response))
        #expect(modified.statusCode == 200 && modified.url == fakeURL)
        #expect(modified.value(forHTTPHeaderField: "X-Name") == "new")
        #expect(modified.value(forHTTPHeaderField: "ETag") == "\"a\"")
        let other = try #require(await AnyResponseModifier(headers: ["A": "b"]).modified(for: response))
        #expect(other.statusCode == 404 && other.value(forHTTPHeaderField: "x-name") == "old")
    }

    @Test("A response is judged as the modifier leaves it: by its status, by its media type and by the delegate")
    func judged() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", TestResponse(status: 404, body: someBytes))
            server.route("/b", .data(someBytes, type: "image/png"))
            downloader.acceptableContentTypes = ["image/*"]
            let delegate = RecordingDelegate()
            downloader.delegate = delegate
            let accepting = KingfisherOptionsInfoItem.responseModifier(
                AnyResponseModifier(statusCode: 200, headers: ["Content-Type": "image/png"])
            )
            #expect(await Caller.load(server.url("/a"), with: downloader).error?.errorCode == 2002)
            #expect(await Caller.load(server.url("/a"), with: downloader, [accepting]).data == someBytes)
            #expect(delegate.log.value.contains("status 200") && delegate.log.value.contains("status 404"))
            let text = AnyResponseModifier(headers: ["Content-Type": "text/plain"])
            let refused = Caller.load(server.url("/b"), with: downloader, [.responseModifier(text)])
            #expect(await refused.error?.errorCode == 2104)
        }
    }

    @Test("A refused response fails the load before its body is read, and the delegate is notified of the end only")
    func refused() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            let delegate = RecordingDelegate()
            downloader.delegate = delegate
            let pieces = Counter()
            let caller = Caller.load(
                server.url("/a"),
                with: downloader,
                [.responseModifier(refusing), .onDataReceived { _, _ in pieces.add() }]
            )
            let error = try #require(await caller.error)
            guard case .responseError(.responseRejected(let response)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(response.statusCode == 200 && error.errorCode == 2101 && pieces.value == 0)
            #expect(delegate.log.value == ["will", "finish with error"])
        }
    }

    @Test("The downloader's modifier holds for all its downloads, and the option goes before it")
    func downloaderAndOption() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            downloader.responseModifier = refusing
            #expect(await Caller.load(server.url("/a"), with: downloader).error?.errorCode == 2101)
            let asItIs = KingfisherOptionsInfoItem.responseModifier(AnyResponseModifier())
            #expect(await Caller.load(server.url("/a"), with: downloader, [asItIs]).data == someBytes)
            downloader.responseModifier = nil
            #expect(await Caller.load(server.url("/a"), with: downloader).data == someBytes)
        }
    }

    @Test("Equal modifiers share a transfer and are called once, others do not") func sharing() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate(), calls = Counter()
            server.route("/a", TestResponse.data(someBytes).with { $0.gate = gate })
            let option = KingfisherOptionsInfoItem.responseModifier(
                AnyResponseModifier { response in
                    calls.add()
                    return response
                }
            )
            let callers = [[option], [option], []].map { Caller.load(server.url("/a"), with: downloader, $0) }
            gate.open()
            for caller in callers { #expect(await caller.data == someBytes) }
            #expect(calls.value == 1 && server.count("/a") == 2)
        }
    }

    @Test("What is kept about caching is what the modifier says") func metadata() async throws {
        try await Rig.run { rig in
            rig.server.route("/a", .data(try SampleImage.png(8, 8)))
            let modifier = AnyResponseModifier(headers: ["Cache-Control": "max-age=60"])
            let result = try await rig.manager.retrieveImage(
                with: rig.server.url("/a"),
                options: [.responseModifier(modifier), .waitForCache]
            )
            #expect(result.cacheMetadata?.cacheControl == "max-age=60")
            let kept = try await rig.cache.cacheMetadata(forKey: rig.server.url("/a").cacheKey)
            #expect(kept?.cacheControl == "max-age=60")
        }
    }

    @Test("A download with a modifier that broke off begins anew, since the rest would not be known for what it is")
    func resuming() async throws {
        try await withDownloader { server, downloader in
            let body = Data(repeating: 7, count: 40_000)
            let whole = TestResponse.data(body).with { ($0.etag, $0.acceptsRanges) = ("\"a\"", true) }
            server.route("/a", sequence: [whole.with { $0.interruption = .cut(after: 10_000) }, whole])
            let option = KingfisherOptionsInfoItem.responseModifier(AnyResponseModifier(statusCode: 200))
            #expect(await Caller.load(server.url("/a"), with: downloader, [option]).error?.errorCode == 2003)
            #expect(await Caller.load(server.url("/a"), with: downloader, [option]).data == body)
            #expect(server.lastRequest("/a")?.header("Range") == nil)
        }
    }
}
