// Invalid responses and failed transfers of a downloader, and their errors.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ResponseTests {
    private let silent = FakeTransport { _ in }

    @Test("A response that is not HTTP is an error") func nonHTTPResponse() async throws {
        let delegate = RecordingDelegate()
        let transport = FakeTransport { transfer in
            transfer.play(
                URLResponse(url: fakeURL, mimeType: nil, expectedContentLength: 3, textEncodingName: nil),
                someBytes
            )
        }
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.delegate = delegate
        let error = await Caller.load(with: downloader).error
        #expect(error?.errorCode == 2001)
        #expect(delegate.log.value == ["will", "finish with error"])
    }

    @Test("An invalid status ends the download", arguments: [404, 500, 199, 400]) func invalidStatus(
        status: Int
    ) async throws {
        let transport = FakeTransport { $0.play(.data(someBytes).with { $0.status = status }) }
        let downloader = ImageDownloader(name: "test", transport: transport)
        let processor = NamedProcessor()
        let caller = Caller.load(with: downloader, [.processor(processor)])
        let error = await caller.error
        #expect(error?.isInvalidResponseStatusCode(status) == true)
        #expect(error?.errorCode == 2002)
        #expect(processor.runs.value == 0)
        #expect(transport.cancelCount == 1)
        #expect(caller.completionCount == 1)
    }

    @Test("An empty body fails in the processor") func emptyBody() async throws {
        try await withDownloader { server, downloader in
            server.route("/empty", .data(Data()))
            let error = await Caller.load(server.url("/empty"), with: downloader).error
            #expect(error?.errorCode == 4001)
        }
    }

    @Test(
        "An error names the response status if that explains the missing image",
        arguments: [
            (204, nil, "(no content), which comes without an image"),
            (302, nil, "(found), a redirect that does not say where to"),
            (301, "", ", a redirect to \"\", which is not a url"),
            (307, "http://[nowhere/", ", a redirect to \"http://[nowhere/\", which is not a url"),
        ] as [(Int, String?, String)]
    )
    func statusWithoutImage(status: Int, location: String?, words: String) async throws {
        try await withDownloader { server, downloader in
            for body in [Data(), Data("<html>moved</html>".utf8)] where body.isEmpty || status != 204 {
                var response = TestResponse(status: status, body: body)
                response.headers["Location"] = location
                server.route("/a", response)
                let options: KingfisherOptionsInfo = [.processor(DefaultImageProcessor.default)]
                let error = await Caller.load(server.url("/a"), with: downloader, options).error
                #expect(error?.isInvalidResponseStatusCode(status) == true)
                let text = error?.errorDescription ?? ""
                #expect(text.contains("HTTP status \(status) ") && text.lowercased().hasSuffix(words), "\(text)")
            }
            // The response to a redirect that is not followed may still be an image.
            server.route("/b", TestResponse(status: 302, body: try SampleImage.png(3, 2)))
            let options: KingfisherOptionsInfo = [.processor(DefaultImageProcessor.default)]
            #expect(
                try await Caller.load(server.url("/b"), with: downloader, options).result.get().image.pixelWidth == 3
            )
        }
    }

    @Test("A 304 response to an unconditional request is an error") func unexpectedNotModified() async throws {
        let transport = FakeTransport { $0.play(TestResponse(status: 304)) }
        let downloader = ImageDownloader(name: "test", transport: transport)
        #expect(await Caller.load(with: downloader).error?.errorCode == 2103)
        let conditional = AnyModifier { request in
            var request = request
            request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
            return request
        }
        let conditionalError = await Caller.load(with: downloader, [.requestModifier(conditional)]).error
        #expect(conditionalError?.isInvalidResponseStatusCode(304) == true)
    }

    @Test("An unusable URL fails in the transport") func unusableURL() async throws {
        let url = try #require(URL(string: "1234"))
        let caller = Caller.load(url, with: ImageDownloader(name: "test"))
        #expect(await caller.task.isInitialized)
        #expect(await caller.error?.urlError?.code == .unsupportedURL)
    }

    @Test("A response above the size limit is an error", arguments: [true, false]) func responseTooLarge(
        isAnnounced: Bool
    ) async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.maxResponseBytes = 10
        let caller = Caller.load(with: downloader)
        let transfer = silent.transfers[0]
        transfer.receive(try plainResponse(length: isAnnounced ? 11 : nil))
        if !isAnnounced {
            transfer.send(Data(count: 10))
            #expect(caller.resultIfAny == nil)
            transfer.send(Data(count: 1))
        } else {
            transfer.cancel()
        }
        #expect(await caller.error?.errorCode == 2105)
        #expect(transfer.isCancelled)
    }

    @Test("A transfer that ends without a response is an error") func noResponse() async throws {
        let transport = FakeTransport { $0.complete() }
        let error = await Caller.load(with: ImageDownloader(name: "test", transport: transport)).error
        #expect(error?.errorCode == 2005)
    }

    @Test(
        "Transport errors are reported as URL errors",
        arguments: [
            (TestResponse.Interruption.cut(after: 5), URLError.Code.networkConnectionLost),
            (.stall(after: 5), .timedOut),
        ]
    )
    func transportErrors(interruption: TestResponse.Interruption, code: URLError.Code) async throws {
        try await withDownloader { server, downloader in
            if case .stall = interruption { downloader.downloadTimeout = 0.3 }
            server.route("/a", .data(someBytes).with { $0.interruption = interruption })
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error?.errorCode == 2003)
            #expect(error?.urlError?.code == code)
        }
    }
}
