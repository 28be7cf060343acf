// Loads one source through the library's whole pipeline. Knows nothing of files written or lines printed.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// A picture as it was loaded, and how that went.
struct LoadedPicture: Sendable {
    let image: Image
    let cacheType: CacheType
    /// The bytes it was made from, unprocessed; nil when they are not known.
    let data: Data?
    /// How long the load took, in seconds.
    let seconds: Double
    /// What was wrong with the cache, if it could not be written.
    let cacheProblem: String?

    /// The width as shown, the file's orientation applied, in pixels.
    var width: Int { Int(image.size.width * image.scale) }

    /// The height as shown, the file's orientation applied, in pixels.
    var height: Int { Int(image.size.height * image.scale) }
}

/// Loads sources the same way, one after the other or at once.
struct PictureLoader: Sendable {
    let manager: KingfisherManager
    let cache: ImageCache
    let options: KingfisherOptionsInfo
    let processor: (any ImageProcessor)?
    private let policy: AnimatedProcessingPolicy
    /// The bytes of what was loaded, for when the picture comes from memory and the disk does not have them.
    private let originals = MemoryStorage.Backend<OriginalBytes>(config: .init(totalCostLimit: 256 << 20))

    /// Sets up loads with the tool's own habits.
    ///
    /// They wait until the cache is written, and keep the original bytes: those of a processed picture say which
    /// format it came in, and serve other pipelines too. Processed pictures are cached without loss, so that what comes
    /// from the cache is what was made, transparent corners and all frames included.
    ///
    /// - Parameters:
    ///   - downloader: Downloads.
    ///   - cache: Where pictures are kept.
    ///   - processor: What is done with the pixels, if anything.
    ///   - policy: What is done with the frames of animations.
    ///   - writesToDisk: Whether the disk cache is written.
    ///   - options: Further options.
    init(
        downloader: ImageDownloader,
        cache: ImageCache,
        processor: (any ImageProcessor)?,
        policy: AnimatedProcessingPolicy = .firstFrame,
        writesToDisk: Bool = true,
        options: KingfisherOptionsInfo = []
    ) {
        self.cache = cache
        self.processor = processor
        self.policy = policy
        manager = KingfisherManager(downloader: downloader, cache: cache)
        var all: KingfisherOptionsInfo = [.waitForCache, .callbackQueue(.untouch), .animatedProcessing(policy)]
        if let processor {
            all += [.processor(processor), .cacheSerializer(LosslessSerializer())]
            all += writesToDisk ? [.cacheOriginalImage] : []
        }
        if !writesToDisk { all.append(.cacheMemoryOnly) }
        self.options = all + options
    }

    /// The key under which the picture is found in the cache, processing included.
    func key(of source: SourceArgument) -> String {
        let identifier = processor.map { policy.applied(to: $0).identifier } ?? ""
        return identifier.isEmpty ? source.source.cacheKey : "\(source.source.cacheKey)@\(identifier)"
    }

    /// Loads one picture.
    ///
    /// - Parameters:
    ///   - argument: What to load.
    ///   - progress: Called with the bytes received and expected.
    /// - Returns: The picture.
    /// - Throws: Why there is none.
    func load(
        _ argument: SourceArgument,
        progress: (@MainActor @Sendable (Int64, Int64) -> Void)? = nil
    ) async throws(Failure) -> LoadedPicture {
        let source = argument.source
        // What a stream held is not for a later run.
        let options = argument.stream == nil ? options : options + [.cacheMemoryOnly]
        let start = ContinuousClock.now
        do throws(KingfisherError) {
            let result = try await manager.retrieveImage(with: source, options: options, progressBlock: progress)
            let seconds = start.duration(to: .now) / .seconds(1)
            return LoadedPicture(
                image: result.image,
                cacheType: result.cacheType,
                data: await bytes(of: result, source),
                seconds: seconds,
                cacheProblem: problem(of: result.cacheStoreResult)
            )
        } catch {
            throw Failure(error, cache)
        }
    }

    private func bytes(of result: RetrieveImageResult, _ source: Source) async -> Data? {
        if result.cacheType == .none, processor == nil || result.metrics != nil {
            let data = result.data()
            if let data { originals.store(value: OriginalBytes(data: data), forKey: source.cacheKey) }
            return data
        }
        // Of cached pictures the result knows only the pixels; the bytes they were made from are in their own entry.
        let (storage, key) = (cache.diskStorage, source.cacheKey)
        let entry = await WorkExecutor.io.run {
            // Read as a file: it has been looked up already, and should count once.
            storage.isCached(forKey: key) ? try? Data(contentsOf: storage.cacheFileURL(forKey: key)) : nil
        }
        return entry ?? originals.value(forKey: key)?.data ?? (result.cacheType == .none ? result.data() : nil)
    }

    private func problem(of result: CacheStoreResult?) -> String? {
        guard case .failure(let error)? = result?.diskCacheResult else { return nil }
        return Failure(error, cache).text
    }
}

/// Bytes, for a memory store that counts them.
private struct OriginalBytes: CacheCostCalculable, Sendable {
    let data: Data
    var cacheCost: Int { data.count }
}

/// Keeps what was made of pictures: stills as PNG, animations as WebP, both without loss.
private struct LosslessSerializer: CacheSerializer {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        guard let frames = image.kf.frameSource, frames.frameCount > 1 else {
            return FormatIndicatedCacheSerializer.png.data(with: image, original: original)
        }
        return try? Codecs.encode(frames, as: .webp, lossless: true)
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        FormatIndicatedCacheSerializer.png.image(with: data, options: options)
    }
}
