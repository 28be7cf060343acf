// Managers that refuse file URLs: the loads that fail, in every form, and the loads that do not.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct FileURLTests {
    /// A manager that refuses file URLs, and a file with an image.
    private struct Place {
        let manager: KingfisherManager
        let file: URL

        static func run(_ body: (Place) async throws -> Void) async throws {
            try await withTemporaryDirectory { directory in
                let file = directory.appendingPathComponent("a.png")
                try SampleImage.png(8, 8).write(to: file)
                let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
                let manager = KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
                manager.defaultOptions = [.callbackQueue(.untouch)]
                manager.allowsFileURLs = false
                try await body(Place(manager: manager, file: file))
            }
        }

        /// The sources that a program can make from a file URL.
        var sources: [Source] {
            [
                .network(file), .network(KF.ImageResource(downloadURL: file, cacheKey: "mine")), file.convertToSource(),
                KF.ImageResource(downloadURL: file).convertToSource(), file.convertToSource(overrideCacheKey: "other"),
            ]
        }

        func isRefused(_ error: KingfisherError?, _ url: URL? = nil) -> Bool {
            guard case .requestError(.fileURLNotAllowed(let refused)) = error else { return false }
            return refused == url ?? file && error?.errorCode == 1105
        }
    }

    @Test("A manager loads file URLs unless this is switched off") func allowedAtFirst() async throws {
        try await Place.run { place in
            #expect(KingfisherManager(downloader: .default, cache: place.manager.cache).allowsFileURLs)
            place.manager.allowsFileURLs = true
            let result = try await place.manager.retrieveImage(with: place.file)
            #expect(result.image.pixelWidth == 8)
        }
    }

    @Test("A file URL fails in every form, before the processor runs") func refused() async throws {
        try await Place.run { place in
            let processor = CountingProcessor()
            let options: KingfisherOptionsInfo = [.processor(processor)]
            for source in place.sources {
                let error = await failure { try await place.manager.retrieveImage(with: source, options: options) }
                #expect(place.isRefused(error), "\(source)")
            }
            let plain = await failure { try await place.manager.retrieveImage(with: place.file, options: options) }
            #expect(place.isRefused(plain))
            #expect(plain?.errorDescription?.contains("allowsFileURLs") == true)
            #expect(processor.runs.value == 0)
        }
    }

    @Test(
        "A file URL is refused however its scheme is written",
        arguments: ["FILE:///etc/hostname", "File:/etc/hostname", "file://localhost/etc/hostname", "file:etc"]
    )
    func schemes(text: String) async throws {
        let url = try #require(URL(string: text))
        try await Place.run { place in
            let error = await failure { try await place.manager.retrieveImage(with: url) }
            #expect(place.isRefused(error, url))
        }
    }

    @Test("The completion handler is called once with the error") func completionHandler() async throws {
        try await Place.run { place in
            for source in place.sources {
                let (outcome, calls) = (Promise<KingfisherError?>(), Counter())
                place.manager.retrieveImage(with: source) { result in
                    calls.add()
                    if case .failure(let error) = result { outcome.fulfil(error) } else { outcome.fulfil(nil) }
                }
                #expect(place.isRefused(await outcome.value))
                #expect(calls.value == 1)
            }
        }
    }

    @Test("A file URL is refused even if its image is cached") func cachedImage() async throws {
        try await Place.run { place in
            place.manager.allowsFileURLs = true
            _ = try await place.manager.retrieveImage(with: place.file, options: [.waitForCache])
            place.manager.allowsFileURLs = false
            for options: KingfisherOptionsInfo in [[], [.onlyFromCache], [.loadDiskFileSynchronously]] {
                let error = await failure { try await place.manager.retrieveImage(with: place.file, options: options) }
                #expect(place.isRefused(error))
            }
        }
    }

    @Test("File URLs among alternatives are refused one by one, and an alternative that is not a file is loaded")
    func alternatives() async throws {
        try await Place.run { place in
            let good = Source.provider(RawImageDataProvider(data: try SampleImage.png(4, 4), cacheKey: "raw"))
            let result = try await place.manager.retrieveImage(
                with: place.file,
                options: [.alternativeSources([.network(place.file), good])]
            )
            #expect(result.source == good)

            let bad = Source.provider(RawImageDataProvider(data: Data("no image".utf8), cacheKey: "bad"))
            let error = await failure {
                try await place.manager.retrieveImage(with: bad, options: [.alternativeSources(place.sources)])
            }
            let failures = try #require(error?.exhausted)
            #expect(failures.dropFirst().count == place.sources.count)
            #expect(failures.dropFirst().allSatisfy { place.isRefused($0.error) })
        }
    }

    @Test("A file URL as the low data source is refused") func lowDataMode() async throws {
        try await Place.run { place in
            place.manager.downloader.isConstrained = true
            let url = try #require(URL(string: "https://a.example/b.png"))
            for source in place.sources {
                let error = await failure {
                    try await place.manager.retrieveImage(with: url, options: [.lowDataMode(source)])
                }
                #expect(place.isRefused(error))
            }
        }
    }

    @Test("A refused file URL is not retried") func noRetries() async throws {
        struct Strategy: RetryStrategy {
            let asked = Counter()
            func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                asked.add()
                retryHandler(.stop)
            }
        }
        try await Place.run { place in
            let strategy = Strategy()
            let error = await failure {
                try await place.manager.retrieveImage(with: place.file, options: [.retryStrategy(strategy)])
            }
            #expect(place.isRefused(error))
            #expect(strategy.asked.value == 0)
        }
    }

    @Test("A live photo of files is refused") func livePhotos() async throws {
        try await Place.run { place in
            let error = await failure {
                try await place.manager.retrieveLivePhoto(with: LivePhotoSource(urls: [place.file]))
            }
            #expect(place.isRefused(error))
        }
    }

    @Test("A file provider that the program makes itself is allowed") func ownProviders() async throws {
        try await Place.run { place in
            let provider = LocalFileImageDataProvider(fileURL: place.file)
            for source in [Source.provider(provider), provider.convertToSource()] {
                let result = try await place.manager.retrieveImage(with: source)
                #expect(result.image.pixelWidth == 8)
            }
        }
    }
}
