// URLs that failed for good: which failures count, how long they count, and what is not asked for them.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct FailedURLTests {
    private let skipping: KingfisherOptionsInfo = [.skipFailedURLs]

    private func code(_ rig: Rig, _ url: URL, _ options: KingfisherOptionsInfo = []) async -> Int? {
        await failure { try await rig.manager.retrieveImage(with: url, options: options) }?.errorCode
    }

    @Test("In a full registry the URL that failed first makes room") func capacity() {
        let clock = ManualClock(), urls = (0..<4).map { URL(fileURLWithPath: "/\($0)") }
        let registry = FailedURLRegistry(capacity: 3, clock: clock)
        for index in [0, 1, 2, 0, 3] {
            registry.insert(urls[index])
            clock.advance(by: .seconds(1))
        }
        #expect(urls.map { registry.contains($0) } == [true, false, true, true])
        let empty = FailedURLRegistry(capacity: -1, clock: clock)
        empty.insert(urls[0])
        #expect(!empty.contains(urls[0]))
    }

    @Test("A URL leaves the registry when its time is over, by name, or with all others") func leaving() {
        let clock = ManualClock(), urls = (0..<3).map { URL(fileURLWithPath: "/\($0)") }
        let registry = FailedURLRegistry(expiration: .seconds(10), clock: clock)
        registry.insert(urls[0])
        clock.advance(by: .seconds(9))
        registry.insert(urls[1])
        registry.insert(urls[2])
        #expect(registry.contains(urls[0]))
        clock.advance(by: .seconds(1))
        #expect(urls.map { registry.contains($0) } == [false, true, true])
        registry.remove(urls[1])
        #expect(urls.map { registry.contains($0) } == [false, false, true])
        registry.removeAll()
        #expect(!registry.contains(urls[2]))
    }

    @Test("Transfers that failed for good count; cancellations, timeouts and a missing network do not")
    func transferErrors() {
        let passing: [URLError.Code] = [
            .notConnectedToInternet, .cancelled, .timedOut, .internationalRoamingOff, .dataNotAllowed,
            .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed, .badServerResponse,
        ]
        let permanent: [URLError.Code] = [
            .badURL, .unsupportedURL, .serverCertificateUntrusted, .httpTooManyRedirects, .cannotDecodeContentData,
        ]
        for code in passing + permanent {
            let error = KingfisherError.responseError(reason: .URLSessionError(error: URLError(code)))
            #expect(error.isPermanent == permanent.contains(code), "\(code)")
        }
    }

    @Test("The statuses 404 and 410 count, and bytes of which there are some; other errors do not")
    func otherErrors() throws {
        for status in [400, 403, 404, 410, 429, 500, 503] {
            let response = try #require(
                HTTPURLResponse(url: fakeURL, statusCode: status, httpVersion: nil, headerFields: nil)
            )
            let error = KingfisherError.responseError(reason: .invalidHTTPStatusCode(response: response))
            #expect(error.isPermanent == [404, 410].contains(status), "\(status)")
        }
        for bytes in ["", "no image"] {
            let item = ImageProcessItem.data(Data(bytes.utf8))
            let error = KingfisherError.processorError(
                reason: .processingFailed(processor: DefaultImageProcessor.default, item: item)
            )
            #expect(error.isPermanent == !bytes.isEmpty)
        }
        #expect(KingfisherError.requestError(reason: .invalidURL(request: URLRequest(url: fakeURL))).isPermanent)
        #expect(!KingfisherError.requestError(reason: .emptyRequest).isPermanent)
        #expect(!KingfisherError.requestError(reason: .asyncTaskContextCancelled).isPermanent)
    }

    @Test("A URL that failed is not asked for again, in every form, even if its image is cached by now")
    func blocked() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a")
            #expect(await code(rig, url, skipping) == 2002)
            #expect(await code(rig, url, skipping) == 1101)
            try await rig.cache.store(SampleImage.gradient(8, 8), forKey: url.cacheKey)
            for option: KingfisherOptionsInfoItem in [.onlyFromCache, .forceRefresh, .loadDiskFileSynchronously] {
                #expect(await code(rig, url, skipping + [option]) == 1101)
            }
            let outcome = Promise<Int?>()
            rig.manager.retrieveImage(with: url, options: skipping) { result in
                if case .failure(let error) = result { outcome.fulfil(error.errorCode) } else { outcome.fulfil(nil) }
            }
            #expect(await outcome.value == 1101)
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test("Without the option nothing is remembered and nothing refused") func withoutOption() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a")
            #expect(await code(rig, url) == 2002)
            #expect(rig.manager.failedURLs == nil)
            #expect(await code(rig, url, skipping) == 2002)
            #expect(rig.manager.failedURLs?.contains(url) == true)
            #expect(await code(rig, url) == 2002)
            #expect(rig.server.count("/a") == 3)
        }
    }

    @Test("A manager that was given a registry skips failed URLs in all loads, until their time is over")
    func ownRegistry() async throws {
        try await Rig.run { rig in
            let clock = ManualClock(), url = rig.server.url("/a")
            rig.manager.failedURLs = FailedURLRegistry(expiration: .seconds(600), clock: clock)
            #expect(await code(rig, url) == 2002)
            #expect(await code(rig, url) == 1101)
            clock.advance(by: .seconds(600))
            #expect(await code(rig, url) == 2002)
            rig.manager.failedURLs = nil
            #expect(await code(rig, url) == 2002)
            #expect(rig.server.count("/a") == 3)
        }
    }

    @Test("A blocked URL is loaded on request; that it failed again is remembered, a success unblocks it")
    func retryFailed() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", sequence: [.status(410), .status(410), .data(try SampleImage.png(8, 8))])
            #expect(await code(rig, url, skipping) == 2002)
            #expect(await code(rig, url, skipping + [.retryFailed]) == 2002)
            #expect(await code(rig, url, skipping) == 1101)
            #expect(await code(rig, url, skipping + [.retryFailed]) == nil)
            #expect(await code(rig, url, skipping) == nil)
            #expect(rig.server.count("/a") == 3)
        }
    }

    @Test("The success of a load without the option unblocks, too") func anySuccess() async throws {
        try await Rig.run { rig in
            let url = rig.server.route("/a", sequence: [.status(404), .data(try SampleImage.png(8, 8))])
            #expect(await code(rig, url, skipping) == 2002)
            #expect(await code(rig, url) == nil)
            #expect(rig.manager.failedURLs?.contains(url) == false)
        }
    }

    @Test("A cancelled load, a server that cannot be reached and a miss where caches are all there is do not block")
    func passingFailures() async throws {
        try await Rig.run { rig in
            let port = try RefusingPort(), gate = Gate()
            #expect(await code(rig, port.url("/a"), skipping) == 2003)
            #expect(await code(rig, rig.server.url("/b"), skipping + [.onlyFromCache]) == 3006)
            rig.server.route("/c", TestResponse.status(404).with { $0.gate = gate })
            let load = Task { await code(rig, rig.server.url("/c"), skipping) }
            await rig.server.waitForRequests(to: "/c")
            load.cancel()
            #expect(await load.value == 1003)
            gate.open()
            #expect(rig.manager.failedURLs == nil)
        }
    }

    @Test("Only the last of several attempts counts, and alternatives are tried for a blocked URL")
    func retriesAndAlternatives() async throws {
        try await Rig.run { rig in
            let image = TestResponse.data(try SampleImage.png(8, 8))
            rig.server.route("/a", sequence: [.status(404), image])
            let retrying = KingfisherOptionsInfoItem.retryStrategy(
                DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))
            )
            #expect(await code(rig, rig.server.url("/a"), skipping + [retrying]) == nil)
            #expect(rig.manager.failedURLs == nil)

            let (bad, good) = (rig.server.url("/bad"), Source.network(rig.server.url("/good")))
            rig.server.route("/good", image)
            #expect(await code(rig, bad, skipping) == 2002)
            let options = skipping + [.alternativeSources([good])]
            let result = try await rig.manager.retrieveImage(with: bad, options: options)
            #expect(result.source == good && rig.server.count("/bad") == 1)
        }
    }

    @Test("A prefetcher skips failed URLs with the option, and in a manager that was given a registry")
    func prefetching() async throws {
        try await Rig.run { rig in
            func codes(_ options: KingfisherOptionsInfo) async -> [Int] {
                let source = Source.network(rig.server.url("/a"))
                let prefetcher = ImagePrefetcher(
                    sources: [source],
                    options: rig.prefetching + options,
                    manager: rig.manager
                )
                return await prefetcher.prefetch().failed.map(\.error.errorCode)
            }
            #expect(await codes(skipping) == [2002])
            #expect(await codes(skipping) == [1101])
            #expect(await codes([]) == [2002])
            rig.manager.failedURLs = FailedURLRegistry()
            #expect(await codes([]) == [2002])
            #expect(await codes([]) == [1101])
            #expect(rig.server.count("/a") == 3)
        }
    }
}
