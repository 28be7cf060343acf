// The internals that tests written for Kingfisher use, under the same names and labels. That this file compiles is
// most of the test; their behaviour is tested by other suites.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("Section 18: internals") struct InternalsTests {
    /// A file manager that counts its calls and forwards them.
    // SAFETY: all its state is in a counter, which is Sendable.
    private final class WatchedFileManager: FileManager, @unchecked Sendable {
        let calls = Counter()
        override func fileExists(atPath path: String) -> Bool {
            calls.add()
            return super.fileExists(atPath: path)
        }
        override func contentsOfDirectory(atPath path: String) throws -> [String] {
            calls.add()
            return try super.contentsOfDirectory(atPath: path)
        }
        override func createDirectory(
            atPath path: String,
            withIntermediateDirectories createIntermediates: Bool,
            attributes: [FileAttributeKey: Any]? = nil
        ) throws {
            calls.add()
            try super.createDirectory(
                atPath: path,
                withIntermediateDirectories: createIntermediates,
                attributes: attributes
            )
        }
    }

    @Test("the disk storage has the expected internals") func diskStorage() async throws {
        try await withTemporaryDirectory { directory in
            let manager = WatchedFileManager()
            var config = DiskStorage.Config(name: "internals", sizeLimit: 0, fileManager: manager, directory: directory)
            config.expiration = .days(1)
            #expect(config.fileManager === manager)
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: true)
            await storage.listed.value
            #expect(manager.calls.value >= 1, "The directory was made by the file manager.")

            try storage.store(value: Data("a".utf8), forKey: "a")
            let read = { (loads: Bool, date: Date) in
                try storage.value(
                    forKey: "a",
                    referenceDate: date,
                    actuallyLoad: loads,
                    extendingExpiration: .none,
                    forcedExtension: nil
                )
            }
            #expect(try read(true, Date()) == Data("a".utf8))
            #expect(try read(false, Date()) == Data.empty)
            #expect(try read(true, Date(timeIntervalSinceNow: 100_000)) == nil)
            #expect(storage.cacheFileName(forKey: "a") == storage.cacheFileName(forKey: "a", forcedExtension: nil))
            #expect(storage.cacheFileName(forKey: "a", forcedExtension: "png").hasSuffix(".png"))

            let removed: [URL] = try storage.removeExpiredValues(referenceDate: Date(timeIntervalSinceNow: 100_000))
            #expect(removed.map(\.lastPathComponent) == [storage.cacheFileName(forKey: "a")])
            try storage.removeAll(skipCreatingDirectory: true)
            #expect(!FileManager.default.fileExists(atPath: storage.directoryURL.path))
        }
    }

    @Test("the memory storage has the expected internals") func memoryStorage() {
        let config = MemoryStorage.Config(totalCostLimit: 1_000_000)
        let storage = MemoryStorage.Backend<KFCrossPlatformImage>(config: config)
        let image = Picture.gradient(2, 2)
        storage.store(value: image, forKey: "a", expiration: .seconds(10))
        #expect(storage.storage.totalCostLimit == 1_000_000)
        #expect(storage.storage.countLimit == .max)
        #expect(storage.storage.object(forKey: "a")?.value === image)
        #expect(storage.keys.count == 1)
        storage.storage.removeObject(forKey: "a")
        #expect(storage.keys.count == 0 && storage.storage.object(forKey: "a") == nil)

        let object = MemoryStorage.StorageObject(image, expiration: .seconds(1_000))
        let before = object.estimatedExpiration
        #expect(object.value === image && !object.isExpired)
        object.extendExpiration()
        #expect(object.estimatedExpiration >= before)
        object.extendExpiration(.expirationTime(.never))
        #expect(object.estimatedExpiration == .distantFuture)
    }

    @Test("expirations and dates have the expected internals") func storage() {
        #expect(StorageExpiration.never.estimatedExpirationSinceNow == .distantFuture)
        #expect(StorageExpiration.days(2).timeInterval == 2 * TimeInterval(TimeConstants.secondsInOneDay))
        #expect(StorageExpiration.seconds(0).isExpired && !StorageExpiration.seconds(1).isExpired)
        let date = Date()
        #expect(date.isPast(referenceDate: date) && !(date + 1).isPast(referenceDate: date))
    }

    @Test("strings and URLs have the expected internals") func stringsAndURLs() {
        #expect("a".computedKey(with: "") == "a" && "a".computedKey(with: "p") == "a@p")
        #expect("hello".kf.sha256.hasPrefix("2cf24dba") && "a.png".kf.ext == "png")
        #expect(fakeURL.localFileCacheKey.hasPrefix(URL.localFileCacheKeyPrefix))
    }

    @Test("the image cache has the expected internals") func imageCache() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "internals", cacheDirectoryURL: directory)
            try await cache.store(Picture.gradient(3, 3), forKey: "a")
            let options = KingfisherParsedOptionsInfo(KingfisherOptionsInfo.empty)
            let (plain, removal) = (Promise<Int?>(), Promise<Bool>())
            cache.retrieveImageInDiskCache(
                forKey: "a",
                options: options,
                callbackQueue: .untouch,
                completionHandler: { plain.fulfil((try? $0.get())??.pixelWidth) }
            )
            #expect(await plain.value == 3)
            for (key, isWanted, expected) in [("a", true, "image"), ("b", true, "none"), ("a", false, "stale")] {
                var options = options
                options.hooks.isWanted = { isWanted }
                let outcome = Promise<String>()
                cache.retrieveImageInDiskCache(forKey: key, options: options, callbackQueue: .untouch) {
                    (result: Result<DiskRetrievalOutcome, KingfisherError>) in
                    switch result {
                    case .success(.image(let image)): outcome.fulfil(image.pixelWidth == 3 ? "image" : "another")
                    case .success(.notFound): outcome.fulfil("none")
                    case .success(.stale): outcome.fulfil("stale")
                    case .failure(let error): outcome.fulfil("\(error)")
                    }
                }
                #expect(await outcome.value == expected)
            }
            cache.removeImage(forKey: "a", completionHandler: { (error: (any Error)?) in removal.fulfil(error == nil) })
            #expect(await removal.value)
        }
    }

    @Test("options have the expected internals") func options() {
        var options = KingfisherParsedOptionsInfo(.empty)
        options.hooks.isWanted = { true }
        #expect(options.imageCreatingOptions == ImageCreatingOptions())
        // A closure here; in Kingfisher a list of objects.
        #expect(options.hooks.received == nil)
        #expect(CallbackQueue.mainAsync.queue.label == DispatchQueue.main.label)
    }

    @Test("retry contexts and intervals have the expected internals") func retries() {
        let source = Source.network(fakeURL)
        let context = RetryContext(source: source, error: .requestError(reason: .emptyRequest))
        #expect(context.increaseRetryCount().retriedCount == 1)
        #expect(DelayRetryStrategy.Interval.seconds(2).timeInterval(for: 3) == 2)
    }

    @Test("a subclass of the downloader may override downloading") func overriddenDownloader() async throws {
        // SAFETY: its only property is a Sendable counter.
        final class Watched: ImageDownloader, @unchecked Sendable {
            let calls = Counter()
            override func downloadImage(
                with url: URL,
                options: KingfisherParsedOptionsInfo,
                completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
            ) -> DownloadTask {
                calls.add()
                return super.downloadImage(with: url, options: options, completionHandler: completionHandler)
            }
        }
        let downloader = Watched(name: "watched", transport: FakeTransport { $0.play(.data(someBytes)) })
        #expect(await Caller.load(with: downloader).data == someBytes)
        #expect(try await downloader.downloadData(with: fakeURL).data == someBytes)
        #expect(downloader.calls.value == 2)
        #expect(!DownloadTask().isInitialized)
    }

    @Test("images and processors have the expected internals") func images() throws {
        let image = Picture.gradient(3, 2)
        #expect(image.kf.cost == 24 && image.kf.cgImage != nil && image.kf.animatedImageData == nil)
        #expect(image.kf.imageCreatingOptions == nil)
        let other = Picture.gradient(2, 2)
        image.kf.copyKingfisherState(to: other)
        let (one, same): (any ImageProcessor, any ImageProcessor) = (CountingProcessor("a"), NamedProcessor("a"))
        #expect(one == same)
        #expect(one != DefaultImageProcessor.default)
        let key = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
        defer { key.deallocate() }
        setRetainedAssociatedObject(image, key, 7)
        #expect(getAssociatedObject(image, key) == 7)
    }

    @Test("live photos have the expected internals") func livePhotos() async throws {
        try await Rig.run { rig in
            let resource = LivePhotoResource(downloadURL: rig.server.url("/a.heic"), cacheKey: "a", fileType: nil)
            #expect(resource.referenceFileType == .heic)
            let source = LivePhotoSource(resources: [resource])
            rig.server.route("/a.heic", .data(someBytes))
            let options = KingfisherParsedOptionsInfo(.empty)
            #expect(rig.manager.missingResources(source, options: options).count == 1)
            #expect(try await rig.manager.downloadAndCache(resources: [resource], options: options).count == 1)
            #expect(rig.manager.missingResources(source, options: options).isEmpty)
            let identifier = LivePhotoImageProcessor.default.identifier
            let find = { (identifier: String) in
                rig.cache.possibleCacheFileURLIfOnDisk(
                    forKey: "a",
                    processorIdentifier: identifier,
                    referenceFileType: resource.referenceFileType
                )
            }
            // A function that is called directly uses the processor of its options.
            #expect(find("") != nil && find(identifier) == nil)
            let result: LivePhotoLoadingInfoResult = try await rig.manager.retrieveLivePhoto(with: source)
            #expect(find(identifier) == result.fileURLs.first)
        }
    }
}
