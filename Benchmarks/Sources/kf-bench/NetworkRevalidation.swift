// Asking the server about cached images that have not changed, against bare requests through the same kind of transport.
// Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let revalidationBenchmarks = [
    // The images are so small that decoding them hardly counts: this is the manager's own cost.
    Benchmark(name: "304 on 1,000 entries of 16×16, 16 in flight, .refreshCached, against bare requests") {
        Figure(rateOf: try await Revalidations(side: 16).compared(), .share(0.7))
    },
    Benchmark(name: "304 on 1,000 entries of 300×300, 16 in flight, .refreshCached, against bare requests") {
        Figure(rateOf: try await Revalidations(side: 300).compared(), .shown)
    },
]

/// Images in memory and on disk, of which the server says that they have not changed.
private struct Revalidations: Sendable {
    private static let (count, inFlight, rounds) = (1_000, 16, 15)

    private let nginx: Nginx
    private let urls: [URL]
    private let manager: KingfisherManager
    private let folder: TemporaryFolder
    /// The fields that make a request conditional, as those of the manager are.
    private let conditions: [String: String]
    private let transport = CurlTransport()

    /// Loads the images, which are squares of so many pixels.
    init(side: Int) async throws {
        nginx = try Nginx(serving: ["image": try SampleImages.jpeg(width: side, height: side)])
        let address = nginx.address(of: "image")
        let urls = (0..<Self.count).compactMap { URL(string: address + "\($0)") }
        folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: ImageDownloader(name: "bench"), cache: cache)
        try await concurrently(Self.count, inFlight: Self.inFlight) { number in
            _ = try await manager.retrieveImage(with: urls[number], options: [.waitForCache])
        }
        // All are one file to nginx, with one validator.
        conditions = try await cache.cacheMetadata(forKey: urls[0].absoluteString)?.conditionalFields ?? [:]
        try BenchmarkError.unless(!conditions.isEmpty, "the server sends no validator")
        (self.urls, self.manager) = (urls, manager)
    }

    func compared() async throws -> Comparison {
        let comparison = try await compare(
            rounds: Self.rounds,
            by: .wall,
            operations: Self.count,
            ours: revalidate,
            baseline: request
        )
        // Every image was loaded once, and every later request has reached the server.
        let (expected, served) = ((1 + 2 * (Self.rounds + 1)) * Self.count, try nginx.served())
        try BenchmarkError.unless(served == expected, "\(expected) loads took \(served) requests")
        return comparison
    }

    private func revalidate() async throws {
        try await concurrently(Self.count, inFlight: Self.inFlight) { number in
            let result = try await manager.retrieveImage(with: urls[number], options: [.refreshCached])
            guard case .notModified? = result.revalidation else {
                throw BenchmarkError("the server has not confirmed an image")
            }
        }
    }

    /// The transport's requests alone.
    private func request() async throws {
        try await concurrently(Self.count, inFlight: Self.inFlight) { number in
            let status = await transport.status(of: urls[number], conditions)
            try BenchmarkError.unless(status == 304, "the server has not confirmed an image")
        }
    }
}

extension CurlTransport {
    /// Sends a request, and returns the status of its response when it is complete; nil when it fails.
    fileprivate func status(of url: URL, _ fields: [String: String]) async -> Int? {
        var request = URLRequest(url: url)
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return await withCheckedContinuation { continuation in
            _ = start(request, policy: TransportPolicy(), events: StatusReader(continuation))
        }
    }
}

/// Reads the status of a response and nothing else.
private final class StatusReader: TransportEvents {
    private let status = Mutex<Int?>(nil)
    private let continuation: CheckedContinuation<Int?, Never>

    init(_ continuation: CheckedContinuation<Int?, Never>) { self.continuation = continuation }

    func willRedirect(_ response: HTTPURLResponse, to proposed: URLRequest) -> TransportDecision<URLRequest?> {
        .now(nil)
    }

    func didReceive(_ response: TransportResponse) -> TransportDecision<TransportDisposition> {
        status.withLock { $0 = response.statusCode }
        return .now(.allow)
    }

    func didReceive(_ data: Data) -> TransportDecision<Void> { .now(()) }

    func didCollect(_ metrics: TransportMetrics) {}

    func didComplete(_ error: TransportError?) {
        continuation.resume(returning: error == nil ? status.withLock { $0 } : nil)
    }
}
