// Options: parsed options, option items and builder methods set the same properties.

import Foundation
import KFImaging
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct OptionsTests {
    /// An option's property, and both ways to set it.
    ///
    /// A property that is missing here fails a test below.
    private struct Option: Sendable {
        let property: String
        let path: any PartialKeyPath<KingfisherParsedOptionsInfo> & Sendable
        let item: KingfisherOptionsInfoItem
        let chained: @Sendable (KF.Builder) -> KF.Builder

        init(
            _ property: String,
            _ path: any PartialKeyPath<KingfisherParsedOptionsInfo> & Sendable,
            _ item: KingfisherOptionsInfoItem,
            chained: @escaping @Sendable (KF.Builder) -> KF.Builder
        ) { (self.property, self.path, self.item, self.chained) = (property, path, item, chained) }
    }

    private static let modifier = AnyModifier { $0 }
    private static let progressive = ImageProgressive()
    private static let redirects = AnyRedirectHandler { _, _, request, done in done(request) }
    private static let responses = AnyResponseModifier(statusCode: 200)
    private static let limits = ImageDecodingLimits(maxPixelCount: 1_000)
    private static let bytes = AnyDataModifier { data, _ in data }
    private static let unsigned = QueryItemsCacheKeyFilter(removing: ["sig"])
    private static let alternative = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "alternative"))

    private static func all(_ cache: ImageCache, _ downloader: ImageDownloader) -> [Option] {
        [
            Option("targetCache", \.targetCache, .targetCache(cache)) { $0.targetCache(cache) },
            Option("originalCache", \.originalCache, .originalCache(cache)) { $0.originalCache(cache) },
            Option("downloader", \.downloader, .downloader(downloader)) { $0.downloader(downloader) },
            Option("downloadPriority", \.downloadPriority, .downloadPriority(0.9)) { $0.downloadPriority(0.9) },
            Option("forceRefresh", \.forceRefresh, .forceRefresh) { $0.forceRefresh() },
            Option("alsoPrefetchToMemory", \.alsoPrefetchToMemory, .alsoPrefetchToMemory) { $0.alsoPrefetchToMemory() },
            Option("fromMemoryCacheOrRefresh", \.fromMemoryCacheOrRefresh, .fromMemoryCacheOrRefresh) {
                $0.fromMemoryCacheOrRefresh()
            },
            Option("cacheMemoryOnly", \.cacheMemoryOnly, .cacheMemoryOnly) { $0.cacheMemoryOnly() },
            Option("queryCacheLayers", \.queryCacheLayers, .queryCacheLayers(.disk)) { $0.queryCacheLayers(.disk) },
            Option("storeCacheLayers", \.storeCacheLayers, .storeCacheLayers(.disk)) { $0.storeCacheLayers(.disk) },
            Option("originalQueryCacheLayers", \.originalQueryCacheLayers, .originalQueryCacheLayers(.disk)) {
                $0.originalQueryCacheLayers(.disk)
            },
            Option("originalStoreCacheLayers", \.originalStoreCacheLayers, .originalStoreCacheLayers(.all)) {
                $0.originalStoreCacheLayers(.all)
            },
            Option("waitForCache", \.waitForCache, .waitForCache) { $0.waitForCache() },
            Option("onlyFromCache", \.onlyFromCache, .onlyFromCache) { $0.onlyFromCache() },
            Option("backgroundDecode", \.backgroundDecode, .backgroundDecode) { $0.backgroundDecode() },
            Option("callbackQueue", \.callbackQueue, .callbackQueue(.untouch)) { $0.callbackQueue(.untouch) },
            Option("scaleFactor", \.scaleFactor, .scaleFactor(3)) { $0.scaleFactor(3) },
            Option("requestModifier", \.requestModifier, .requestModifier(modifier)) { $0.requestModifier(modifier) },
            Option("redirectHandler", \.redirectHandler, .redirectHandler(redirects)) { $0.redirectHandler(redirects) },
            Option("responseModifier", \.responseModifier, .responseModifier(responses)) {
                $0.responseModifier(responses)
            },
            Option("decryptor", \.decryptor, .decryptor(Base64DataDecryptor())) {
                $0.decryptor(Base64DataDecryptor())
            },
            Option("dataModifier", \.dataModifier, .dataModifier(bytes)) { $0.dataModifier(bytes) },
            Option("onDataReceived", \.onDataReceived, .onDataReceived { _, _ in }) { $0.onDataReceived { _, _ in } },
            Option("processor", \.processor, .processor(CountingProcessor())) {
                $0.setProcessor(CountingProcessor())
            },
            Option("decodingLimits", \.decodingLimits, .decodingLimits(limits)) { $0.decodingLimits(limits) },
            Option("onlyLoadFirstFrame", \.onlyLoadFirstFrame, .onlyLoadFirstFrame) { $0.onlyLoadFirstFrame() },
            Option("preloadAllAnimationData", \.preloadAllAnimationData, .preloadAllAnimationData) {
                $0.preloadAllAnimationData()
            },
            Option("animatedProcessing", \.animatedProcessing, .animatedProcessing(.transformFrames)) {
                $0.animatedProcessing(.transformFrames)
            },
            Option("vectorProcessing", \.vectorProcessing, .vectorProcessing(.skip)) { $0.vectorProcessing(.skip) },
            Option("cacheSerializer", \.cacheSerializer, .cacheSerializer(FormatIndicatedCacheSerializer.png)) {
                $0.serialize(by: FormatIndicatedCacheSerializer.png)
            },
            Option("imageModifier", \.imageModifier, .imageModifier(AnyImageModifier { $0 })) {
                $0.imageModifier(AnyImageModifier { $0 })
            },
            Option("cacheOriginalImage", \.cacheOriginalImage, .cacheOriginalImage) { $0.cacheOriginalImage() },
            Option("cacheDamagedImages", \.cacheDamagedImages, .cacheDamagedImages) { $0.cacheDamagedImages() },
            Option("loadDiskFileSynchronously", \.loadDiskFileSynchronously, .loadDiskFileSynchronously) {
                $0.loadDiskFileSynchronously()
            },
            Option("memoryCacheExpiration", \.memoryCacheExpiration, .memoryCacheExpiration(.seconds(5))) {
                $0.memoryCacheExpiration(.seconds(5))
            },
            Option(
                "memoryCacheAccessExtendingExpiration",
                \.memoryCacheAccessExtendingExpiration,
                .memoryCacheAccessExtendingExpiration(.none)
            ) { $0.memoryCacheAccessExtending(.none) },
            Option("diskCacheExpiration", \.diskCacheExpiration, .diskCacheExpiration(.days(2))) {
                $0.diskCacheExpiration(.days(2))
            },
            Option(
                "diskCacheAccessExtendingExpiration",
                \.diskCacheAccessExtendingExpiration,
                .diskCacheAccessExtendingExpiration(.none)
            ) {
                $0.diskCacheAccessExtending(.none)
            },
            Option("processingQueue", \.processingQueue, .processingQueue(.untouch)) { $0.processingQueue(.untouch) },
            Option("alternativeSources", \.alternativeSources, .alternativeSources([alternative])) {
                $0.alternativeSources([alternative])
            },
            Option("refreshCached", \.refreshCached, .refreshCached) { $0.refreshCached() },
            Option("refreshFailureIsError", \.refreshFailureIsError, .refreshFailureIsError) {
                $0.refreshFailureIsError()
            },
            Option("respectCacheControl", \.respectCacheControl, .respectCacheControl) { $0.respectCacheControl() },
            Option("onStaleImage", \.onStaleImage, .onStaleImage { _ in }) { $0.onStaleImage { _ in } },
            Option("lowDataModeSource", \.lowDataModeSource, .lowDataMode(alternative)) {
                $0.lowDataModeSource(alternative)
            },
            Option("retryStrategy", \.retryStrategy, .retryStrategy(DelayRetryStrategy(maxRetryCount: 1))) {
                $0.retry(maxCount: 1)
            },
            Option("diskStoreWriteOptions", \.diskStoreWriteOptions, .diskStoreWriteOptions(.withoutOverwriting)) {
                $0.diskStoreWriteOptions(.withoutOverwriting)
            },
            Option("skipFailedURLs", \.skipFailedURLs, .skipFailedURLs) { $0.skipFailedURLs() },
            Option("retryFailed", \.retryFailed, .retryFailed) { $0.retryFailed() },
            Option("cacheKeyFilter", \.cacheKeyFilter, .cacheKeyFilter(unsigned)) { $0.cacheKeyFilter(unsigned) },
            Option("cacheTags", \.cacheTags, .cacheTags(["tag"])) { $0.cacheTags(["tag"]) },
            Option("forcedExtension", \.forcedExtension, .forcedCacheFileExtension("bin")) {
                $0.forcedCacheFileExtension("bin")
            },
            Option("progressiveJPEG", \.progressiveJPEG, .progressiveJPEG(progressive)) {
                $0.progressiveJPEG(progressive)
            },
            Option("transition", \.transition, .transition(.fade(1))) { $0.fade(duration: 1) },
            Option("connectTimeout", \.connectTimeout, .connectTimeout(3)) { $0.connectTimeout(3) },
            Option("downloadTimeout", \.downloadTimeout, .downloadTimeout(4)) { $0.downloadTimeout(4) },
            Option("totalTimeout", \.totalTimeout, .totalTimeout(5)) { $0.totalTimeout(5) },
            Option("forceTransition", \.forceTransition, .forceTransition) { $0.forceTransition() },
            Option("keepCurrentImageWhileLoading", \.keepCurrentImageWhileLoading, .keepCurrentImageWhileLoading) {
                $0.keepCurrentImageWhileLoading()
            },
            Option("sizedToView", \.sizedToView, .sizedToView) { $0.sizedToView() },
            Option("onFailureImage", \.onFailureImage, .onFailureImage(nil)) { $0.onFailureImage(nil) },
        ]
    }

    /// The value of a property as a text that is different for each value.
    private func text(_ options: KingfisherParsedOptionsInfo, _ option: Option) -> String {
        let value = options[keyPath: option.path]
        if let object = (value as? ImageCache?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let object = (value as? ImageDownloader?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let processor = value as? any ImageProcessor { return processor.identifier }
        return "\(value)".replacingOccurrences(of: "(Function)", with: "")
    }

    /// The names of all options, as the layers declare them.
    private static let declared: Set<String> = {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Kingfisher").standardizedFileURL
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects ?? []
        let options = files.compactMap { $0 as? URL }.filter { $0.path.hasSuffix("Options.swift") }
        let texts = options.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
        return Set(texts.flatMap { $0.matches(of: #/\n    public var (\w+)/#).map { String($0.1) } })
    }()

    @Test("Every option can be set by an item and by a builder method") func itemsAndBuilderMethods() async throws {
        try await withCache { cache in
            let downloader = ImageDownloader(name: "options")
            for option in Self.all(cache, downloader) {
                let plain = text(KingfisherParsedOptionsInfo(), option)
                let asItem = text(KingfisherParsedOptionsInfo([option.item]), option)
                var builder = KF.source(nil)
                builder.options = KingfisherParsedOptionsInfo()
                let asMethod = text(option.chained(builder).options, option)
                #expect(asItem != plain, "the item for \(option.property) changes nothing")
                #expect(asItem == asMethod, "\(option.property) differs between item and method")
            }
        }
    }

    @Test("The list of this suite names every option") func optionList() {
        #expect(Self.declared.count > 50)
        #expect(Self.declared == Set(Self.all(.default, .default).map(\.property)))
    }

    /// The options by what they decide: what is loaded, what is stored, or the result of one subscriber.
    private static let inKey: Set = [
        "refreshFailureIsError",
        "downloader", "forceRefresh", "refreshCached", "respectCacheControl", "fromMemoryCacheOrRefresh",
        "onlyFromCache", "scaleFactor", "queryCacheLayers", "originalQueryCacheLayers",
        "requestModifier", "redirectHandler", "responseModifier", "decryptor", "dataModifier", "processor",
        "onlyLoadFirstFrame", "decodingLimits",
        "animatedProcessing", "vectorProcessing", "processingQueue", "lowDataModeSource", "connectTimeout",
        "downloadTimeout", "totalTimeout", "cacheKeyFilter", "memoryCacheAccessExtendingExpiration",
        "diskCacheAccessExtendingExpiration", "cacheTags",
    ]
    private static let stored: Set = [
        "targetCache", "originalCache", "cacheMemoryOnly", "cacheSerializer", "cacheOriginalImage",
        "cacheDamagedImages",
        "storeCacheLayers", "originalStoreCacheLayers",
        "memoryCacheExpiration", "diskCacheExpiration", "diskStoreWriteOptions", "forcedExtension",
    ]
    private static let perSubscriber: Set = [
        "downloadPriority", "waitForCache", "callbackQueue", "imageModifier", "onDataReceived", "onStaleImage",
        "loadDiskFileSynchronously",
        "alternativeSources", "retryStrategy", "progressiveJPEG", "transition", "forceTransition",
        "keepCurrentImageWhileLoading", "sizedToView", "skipFailedURLs", "retryFailed", "onFailureImage",
        "alsoPrefetchToMemory",
        // Each is given its own frames, made of the bytes that all share.
        "preloadAllAnimationData",
        // The pixels of every image of the library are decoded.
        "backgroundDecode",
    ]

    @Test("Every option either decides whether two loads share their work, or belongs to each subscriber")
    func sorting() async throws {
        #expect(Self.declared == Self.inKey.union(Self.stored).union(Self.perSubscriber))
        func key(_ options: KingfisherOptionsInfo) -> LoadPlan.Identity {
            var parsed = KingfisherParsedOptionsInfo(options)
            parsed.resolveProcessor()
            return LoadPlan(.network(fakeURL), parsed).identity
        }
        try await withCache { cache in
            for option in Self.all(cache, ImageDownloader(name: "options")) {
                // This option changes the result of a processor for animations, and there is no processor by default.
                let base: KingfisherOptionsInfo = [.processor(BlurImageProcessor(blurRadius: 1))]
                let isOwn = Self.perSubscriber.contains(option.property)
                #expect((key(base) == key(base + [option.item])) == isOwn, "\(option.property)")
            }
        }
    }

    @Test("Later items override earlier ones")
    func laterItemsWin() {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2), .downloadPriority(0.1), .scaleFactor(3)])
        #expect(options.scaleFactor == 3)
        #expect(options.downloadPriority == 0.1)
    }

    @Test("The original cache is the target cache unless another one is given")
    func originalCacheDefault() {
        let options = KingfisherParsedOptionsInfo([.targetCache(.default)])
        #expect(options.originalCache === ImageCache.default)
        #expect(KingfisherParsedOptionsInfo(nil).originalCache == nil)
    }

    @Test("The call's options override the manager's defaults, and those its own settings")
    func optionPrecedence() {
        let manager = KingfisherManager(downloader: .default, cache: .default)
        manager.defaultOptions = [.scaleFactor(2), .waitForCache]
        let options = manager.parsed([.scaleFactor(3)])
        #expect(options.scaleFactor == 3)
        #expect(options.waitForCache)
        #expect(options.targetCache === manager.cache)
        #expect(options.downloader === manager.downloader)
    }

    @Test("A setter does not change the builder it is called on")
    func settersCopy() {
        let builder = KF.source(nil).scaleFactor(2)
        let changed = builder.forceRefresh().scaleFactor(3)
        #expect(builder.options.scaleFactor == 2 && !builder.options.forceRefresh)
        #expect(changed.options.scaleFactor == 3 && changed.options.forceRefresh)
    }

    @Test("Processors chain, downsampling replaces the default one, and the keys are equal")
    func processorsChain() {
        let size = CGSize(width: 10, height: 20)
        let chained = KF.source(nil).downsampling(size: size).roundCorner(radius: .point(4))
        let joined = DownsamplingImageProcessor(size: size) |> RoundCornerImageProcessor(cornerRadius: 4)
        #expect(chained.options.processor.identifier == joined.identifier)
        #expect(
            KF.source(nil).roundCorner(radius: .point(4)).options.processor.identifier
                == RoundCornerImageProcessor(cornerRadius: 4).identifier
        )
        #expect(KF.source(nil).setProcessors([]).options.processor.identifier.isEmpty)
        let list: [any ImageProcessor] = [CountingProcessor("a"), CountingProcessor("b"), CountingProcessor("c")]
        #expect(KF.source(nil).setProcessors(list).options.processor.identifier == "a|>b|>c")
        let resized = KF.source(nil).resizing(referenceSize: size).downsampling(size: size).options.processor
        let both = ResizingImageProcessor(referenceSize: size) |> DownsamplingImageProcessor(size: size)
        #expect(resized.identifier == both.identifier)
    }
}
