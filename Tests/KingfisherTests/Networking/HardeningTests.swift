// A downloader's protection against malformed URLs, hostile redirects and responses, and races of callers.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct HardeningTests {
    @Test(
        "A URL that the HTTP client does not accept is an error, not a trap",
        arguments: [
            "http://127.0.0.1:99999/a", "http://[::1]:70000/a", "http://127.0.0.1:0/a", "unix:///tmp/socket",
            "ftp://a/b",
            "http+unix://%2Ftmp%2Fsocket/a",
        ]
    )
    func impossibleURLs(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let downloader = ImageDownloader(name: "test")
        let error = try #require(await Caller.load(url, with: downloader).error)
        guard case .responseError(.URLSessionError(let inner as URLError)) = error else {
            return #expect(Bool(false), "\(error)")
        }
        #expect(inner.code == .unsupportedURL)
    }

    @Test(
        "A redirect to a scheme other than HTTP and HTTPS is an error",
        arguments: [
            "http://127.0.0.1:65536/a", "http+unix://%2Ftmp%2Fsocket/a", "unix:///tmp/socket", "file:///etc/passwd",
            "ftp://127.0.0.1/a",
        ]
    )
    func redirectScheme(_ location: String) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .redirect(to: location))
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error != nil)
        }
    }

    @Test("A response above the limit stops a transport that delivers it before its `start` returns")
    func synchronousTooLarge() async {
        let transport = FakeTransport { transfer in
            guard
                let response = HTTPURLResponse(
                    url: fakeURL,
                    statusCode: 200,
                    httpVersion: "HTTP/1.1",
                    headerFields: [:]
                )
            else { return }
            transfer.receive(response) { _ in transfer.send(Data(count: 200)) }
        }
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.maximumResponseSize = 100
        let error = await Caller.load(with: downloader).error
        #expect(error?.errorCode == 2105)
        #expect(transport.cancelCount == 1)
    }

    @Test(
        "Cancelling stops the transfer even right after an asynchronous modifier returned",
        .timeLimit(.minutes(5))
    )
    func cancelAfterQuickModifier() async {
        struct Quick: AsyncImageDownloadRequestModifier {
            let taskStarted = Promise<Void>()
            func modified(for request: URLRequest) async -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
                { [taskStarted] _ in taskStarted.fulfil(()) }
            }
        }
        for _ in 0..<200 {
            let started = Promise<FakeTransfer>()
            let transport = FakeTransport { started.fulfil($0) }
            let downloader = ImageDownloader(name: "test", transport: transport)
            let modifier = Quick()
            let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
            let transfer = await started.value
            caller.cancel()
            #expect(await caller.error?.errorCode == 1003)
            // The transport may not have handed over the transfer yet; it is cancelled once it does.
            await transfer.cancelled.wait()
        }
    }

    @Test("Each subscriber's image is processed on its own processing queue")
    func processingQueues() async throws {
        let gate = Gate()
        try await withDownloader { server, downloader in
            server.route("/a", TestResponse.data(someBytes).with { $0.gate = gate })
            let key = DispatchSpecificKey<Int>(), seen = Box<[Int?]>([])
            let queues = [1, 2].map { number in
                let queue = DispatchQueue(label: "queue \(number)")
                queue.setSpecific(key: key, value: number)
                return queue
            }
            var processor = NamedProcessor()
            processor.onRun = { seen.change { $0.append(DispatchQueue.getSpecific(key: key)) } }
            let callers = queues.map {
                Caller.load(
                    server.url("/a"),
                    with: downloader,
                    [.processor(processor), .processingQueue(.dispatch($0))]
                )
            }
            gate.open()
            for caller in callers { #expect(await caller.data == someBytes) }
            #expect(Set(seen.value) == [1, 2])
        }
    }
}
