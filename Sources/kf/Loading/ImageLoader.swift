// Loads one source through the library's whole pipeline, for `kf fetch`.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// A loaded image, and the course of the load.
struct LoadedImage: Sendable {
    var image: Image
    let cacheType: CacheType
    /// The bytes the image was decoded from; nil when they are not known.
    let data: Data?
    /// The duration of the load, in seconds.
    let seconds: Double
    /// The reason why the cache could not be written, if it could not.
    let cacheProblem: String?
    /// The reason why the server could not say whether the cached image is still the one, if it was asked.
    let refreshProblem: String?

    /// The width as shown, the file's orientation applied, in pixels.
    var width: Int { Int(image.size.width * image.scale) }

    /// The height as shown, the file's orientation applied, in pixels.
    var height: Int { Int(image.size.height * image.scale) }
}

/// Loads sources with the same options, one after the other or at once.
struct ImageLoader: Sendable {
    let manager: KingfisherManager
    let cache: ImageCache
    let options: KingfisherOptionsInfo
    let processor: (any ImageProcessor)?
    let limits: LimitArguments
    private let usesDisk: Bool
    private let policy: AnimatedProcessingPolicy
    /// The original bytes of loaded images, for those that come from memory and are not in the disk cache.
    private let originals = MemoryStorage.Backend<OriginalBytes>(config: .init(totalCostLimit: 256 << 20))

    /// Sets up loads with the tool's own options.
    ///
    /// Loads wait until the cache is written, and store the original bytes too: they tell the format of a processed
    /// image's source, and other pipelines can use them. Processed images are cached without loss, transparent corners
    /// and all frames included.
    ///
    /// - Parameters:
    ///   - downloader: The downloader.
    ///   - cache: The cache.
    ///   - processor: The processor, if any.
    ///   - policy: The treatment of the frames of animations.
    ///   - usesDisk: Whether the disk cache is read and written.
    ///   - limits: The limits on sources.
    ///   - options: Further options.
    init(
        downloader: ImageDownloader,
        cache: ImageCache,
        processor: (any ImageProcessor)?,
        policy: AnimatedProcessingPolicy = .firstFrame,
        usesDisk: Bool = true,
        limits: LimitArguments,
        options: KingfisherOptionsInfo = []
    ) {
        self.cache = cache
        self.processor = processor
        self.policy = policy
        self.limits = limits
        self.usesDisk = usesDisk
        manager = KingfisherManager(downloader: downloader, cache: cache)
        var all: KingfisherOptionsInfo = [.waitForCache, .callbackQueue(.untouch), .animatedProcessing(policy)]
        if let processor {
            all += [.processor(processor), .cacheSerializer(LosslessSerializer())]
            all += usesDisk ? [.cacheOriginalImage] : []
        }
        if !usesDisk { all += [.cacheMemoryOnly, .fromMemoryCacheOrRefresh] }
        self.options = all + options
    }

    /// The key under which the image is found in the cache, processing included.
    func key(of source: SourceArgument) -> String {
        let identifier = processor.map { policy.applied(to: $0).identifier } ?? ""
        return identifier.isEmpty ? source.source.cacheKey : "\(source.source.cacheKey)@\(identifier)"
    }

    /// Whether a key has an image in the disk cache, for later runs.
    func isOnDisk(_ key: String) async -> Bool {
        let storage = cache.diskStorage
        return await WorkExecutor.io.run { storage.isCached(forKey: key) }
    }

    /// Whether a loaded image is kept for later runs.
    func keeps(_ loaded: LoadedImage, of argument: SourceArgument) async -> Bool {
        guard loaded.cacheType != .disk else { return true }
        // What an earlier load has stored is another image.
        guard usesDisk, argument.stream == nil, loaded.cacheProblem == nil, !loaded.image.isDamaged else {
            return false
        }
        return await isOnDisk(key(of: argument))
    }

    /// Loads one image.
    ///
    /// - Parameters:
    ///   - argument: The source.
    ///   - progress: Called with the bytes received and expected.
    /// - Returns: The image.
    /// - Throws: The reason why it could not be loaded.
    func load(
        _ argument: SourceArgument,
        progress: (@MainActor @Sendable (Int64, Int64) -> Void)? = nil
    ) async throws(Failure) -> LoadedImage {
        try limits.check(argument)
        let source = argument.source
        // The bytes of a stream are not stored for a later run.
        let options = argument.stream == nil ? options : options + [.cacheMemoryOnly]
        let start = ContinuousClock.now
        do throws(KingfisherError) {
            let result = try await manager.retrieveImage(with: source, options: options, progressBlock: progress)
            let seconds = start.duration(to: .now) / .seconds(1)
            return LoadedImage(
                image: result.image,
                cacheType: result.cacheType,
                data: await bytes(of: result, source),
                seconds: seconds,
                cacheProblem: problem(of: result.cacheStoreResult),
                refreshProblem: problem(of: result.revalidation)
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
        // The result of a cached image has only pixels; the original bytes have an entry of their own.
        let (storage, key, usesDisk) = (cache.diskStorage, source.cacheKey, usesDisk)
        let entry = await WorkExecutor.io.run {
            // Read as a file: the lookup has been counted already.
            usesDisk && storage.isCached(forKey: key) ? try? Data(contentsOf: storage.cacheFileURL(forKey: key)) : nil
        }
        return entry ?? originals.value(forKey: key)?.data ?? (result.cacheType == .none ? result.data() : nil)
    }

    private func problem(of revalidation: RetrieveImageResult.Revalidation?) -> String? {
        guard case .failed(let error)? = revalidation else { return nil }
        return Failure(error, cache).text
    }

    private func problem(of result: CacheStoreResult?) -> String? {
        guard case .failure(let error)? = result?.diskCacheResult else { return nil }
        return Failure(error, cache).text
    }
}

/// Original bytes, with their number as the cost in a memory store.
private struct OriginalBytes: CacheCostCalculable, Sendable {
    let data: Data
    var cacheCost: Int { data.count }
}

/// Serializes processed images without loss: stills as PNG, animations as WebP.
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
