// Asking the server about cached images that have not changed, against the bare requests of the same downloader. Uses
// public API only.

import Foundation
import Kingfisher

let revalidationBenchmarks = [
    // The images are so small that decoding them hardly counts: this is the manager's own cost.
    Benchmark(name: "304 on 1,000 entries of 16×16, 16 in flight, .refreshCached, against bare requests") {
        Figure(rateOf: try await Revalidations(side: 16).compared(), .share(0.7))
    }
]

/// Images in memory and on disk, of which the server says that they have not changed.
private struct Revalidations: Sendable {
    private static let (count, inFlight, rounds) = (1_000, 16, 15)

    private let nginx: Nginx
    private let urls: [URL]
    private let downloader = ImageDownloader(name: "bench")
    private let manager: KingfisherManager
    private let folder: TemporaryFolder
    /// The options of a request that is conditional, as those of the manager are.
    private let conditional: KingfisherParsedOptionsInfo

    /// Loads the images, which are squares of so many pixels.
    init(side: Int) async throws {
        nginx = try Nginx(serving: ["image": try SampleImages.jpeg(width: side, height: side)])
        let address = nginx.address(of: "image")
        let urls = (0..<Self.count).compactMap { URL(string: address + "\($0)") }
        folder = try TemporaryFolder()
        let cache = try ImageCache(name: "bench", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        try await concurrently(Self.count, inFlight: Self.inFlight) { number in
            _ = try await manager.retrieveImage(with: urls[number], options: [.waitForCache])
        }
        // All are one file to nginx, with one validator.
        let fields = try await cache.cacheMetadata(forKey: urls[0].absoluteString)?.conditionalFields ?? [:]
        try BenchmarkError.unless(!fields.isEmpty, "the server sends no validator")
        conditional = KingfisherParsedOptionsInfo([.requestModifier(AnyModifier(headers: fields))])
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

    /// The downloader's requests alone, of which 304 is an error, since there are no bytes.
    private func request() async throws {
        try await concurrently(Self.count, inFlight: Self.inFlight) { number in
            var failure: KingfisherError?
            do throws(KingfisherError) {
                _ = try await downloader.downloadData(with: urls[number], options: conditional)
            } catch {
                failure = error
            }
            let isConfirmed = failure?.isInvalidResponseStatusCode(304) == true
            try BenchmarkError.unless(isConfirmed, "the server has not confirmed an image")
        }
    }
}
