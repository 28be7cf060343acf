// Options: parsed options, option items and builder methods set the same properties.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct OptionsTests {
    /// An option's property, and both ways to set it.
    ///
    /// A property that is missing here fails a test below.
    private struct Option: Sendable {
        let property: String
        let item: KingfisherOptionsInfoItem
        let chained: @Sendable (KF.Builder) -> KF.Builder
    }

    private static let modifier = AnyModifier { $0 }
    private static let progressive = ImageProgressive()
    private static let redirects = AnyRedirectHandler { _, _, request, done in done(request) }
    private static let responses = AnyResponseModifier(statusCode: 200)
    private static let bytes = AnyDataModifier { data, _ in data }
    private static let unsigned = QueryItemsCacheKeyFilter(removing: ["sig"])
    private static let alternative = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "alternative"))

    private static func all(_ cache: ImageCache, _ downloader: ImageDownloader) -> [Option] {
        [
            Option(property: "targetCache", item: .targetCache(cache)) { $0.targetCache(cache) },
            Option(property: "originalCache", item: .originalCache(cache)) { $0.originalCache(cache) },
            Option(property: "downloader", item: .downloader(downloader)) { $0.downloader(downloader) },
            Option(property: "downloadPriority", item: .downloadPriority(0.9)) { $0.downloadPriority(0.9) },
            Option(property: "forceRefresh", item: .forceRefresh) { $0.forceRefresh() },
            Option(property: "alsoPrefetchToMemory", item: .alsoPrefetchToMemory) { $0.alsoPrefetchToMemory() },
            Option(property: "fromMemoryCacheOrRefresh", item: .fromMemoryCacheOrRefresh) {
                $0.fromMemoryCacheOrRefresh()
            },
            Option(property: "cacheMemoryOnly", item: .cacheMemoryOnly) { $0.cacheMemoryOnly() },
            Option(property: "queryCacheLayers", item: .queryCacheLayers(.disk)) { $0.queryCacheLayers(.disk) },
            Option(property: "storeCacheLayers", item: .storeCacheLayers(.disk)) { $0.storeCacheLayers(.disk) },
            Option(property: "originalQueryCacheLayers", item: .originalQueryCacheLayers(.disk)) {
                $0.originalQueryCacheLayers(.disk)
            },
            Option(property: "originalStoreCacheLayers", item: .originalStoreCacheLayers(.all)) {
                $0.originalStoreCacheLayers(.all)
            },
            Option(property: "waitForCache", item: .waitForCache) { $0.waitForCache() },
            Option(property: "onlyFromCache", item: .onlyFromCache) { $0.onlyFromCache() },
            Option(property: "backgroundDecode", item: .backgroundDecode) { $0.backgroundDecode() },
            Option(property: "callbackQueue", item: .callbackQueue(.untouch)) { $0.callbackQueue(.untouch) },
            Option(property: "scaleFactor", item: .scaleFactor(3)) { $0.scaleFactor(3) },
            Option(property: "requestModifier", item: .requestModifier(modifier)) { $0.requestModifier(modifier) },
            Option(property: "redirectHandler", item: .redirectHandler(redirects)) { $0.redirectHandler(redirects) },
            Option(property: "responseModifier", item: .responseModifier(responses)) {
                $0.responseModifier(responses)
            },
            Option(property: "decryptor", item: .decryptor(Base64DataDecryptor())) {
                $0.decryptor(Base64DataDecryptor())
            },
            Option(property: "dataModifier", item: .dataModifier(bytes)) { $0.dataModifier(bytes) },
            Option(property: "onDataReceived", item: .onDataReceived { _, _ in }) { $0.onDataReceived { _, _ in } },
            Option(property: "processor", item: .processor(CountingProcessor())) {
                $0.setProcessor(CountingProcessor())
            },
            Option(property: "onlyLoadFirstFrame", item: .onlyLoadFirstFrame) { $0.onlyLoadFirstFrame() },
            Option(property: "preloadAllAnimationData", item: .preloadAllAnimationData) {
                $0.preloadAllAnimationData()
            },
            Option(property: "animatedProcessing", item: .animatedProcessing(.transformFrames)) {
                $0.animatedProcessing(.transformFrames)
            },
            Option(property: "vectorProcessing", item: .vectorProcessing(.skip)) { $0.vectorProcessing(.skip) },
            Option(property: "cacheSerializer", item: .cacheSerializer(FormatIndicatedCacheSerializer.png)) {
                $0.serialize(by: FormatIndicatedCacheSerializer.png)
            },
            Option(property: "imageModifier", item: .imageModifier(AnyImageModifier { $0 })) {
                $0.imageModifier(AnyImageModifier { $0 })
            },
            Option(property: "cacheOriginalImage", item: .cacheOriginalImage) { $0.cacheOriginalImage() },
            Option(property: "cacheDamagedImages", item: .cacheDamagedImages) { $0.cacheDamagedImages() },
            Option(property: "loadDiskFileSynchronously", item: .loadDiskFileSynchronously) {
                $0.loadDiskFileSynchronously()
            },
            Option(property: "memoryCacheExpiration", item: .memoryCacheExpiration(.seconds(5))) {
                $0.memoryCacheExpiration(.seconds(5))
            },
            Option(
                property: "memoryCacheAccessExtendingExpiration",
                item: .memoryCacheAccessExtendingExpiration(.none)
            ) { $0.memoryCacheAccessExtending(.none) },
            Option(property: "diskCacheExpiration", item: .diskCacheExpiration(.days(2))) {
                $0.diskCacheExpiration(.days(2))
            },
            Option(property: "diskCacheAccessExtendingExpiration", item: .diskCacheAccessExtendingExpiration(.none)) {
                $0.diskCacheAccessExtending(.none)
            },
            Option(property: "processingQueue", item: .processingQueue(.untouch)) { $0.processingQueue(.untouch) },
            Option(property: "alternativeSources", item: .alternativeSources([alternative])) {
                $0.alternativeSources([alternative])
            },
            Option(property: "refreshCached", item: .refreshCached) { $0.refreshCached() },
            Option(property: "refreshFailureIsError", item: .refreshFailureIsError) { $0.refreshFailureIsError() },
            Option(property: "respectCacheControl", item: .respectCacheControl) { $0.respectCacheControl() },
            Option(property: "onStaleImage", item: .onStaleImage { _ in }) { $0.onStaleImage { _ in } },
            Option(property: "lowDataModeSource", item: .lowDataMode(alternative)) {
                $0.lowDataModeSource(alternative)
            },
            Option(property: "retryStrategy", item: .retryStrategy(DelayRetryStrategy(maxRetryCount: 1))) {
                $0.retry(maxCount: 1)
            },
            Option(property: "diskStoreWriteOptions", item: .diskStoreWriteOptions(.withoutOverwriting)) {
                $0.diskStoreWriteOptions(.withoutOverwriting)
            },
            Option(property: "skipFailedURLs", item: .skipFailedURLs) { $0.skipFailedURLs() },
            Option(property: "retryFailed", item: .retryFailed) { $0.retryFailed() },
            Option(property: "cacheKeyFilter", item: .cacheKeyFilter(unsigned)) { $0.cacheKeyFilter(unsigned) },
            Option(property: "forcedExtension", item: .forcedCacheFileExtension("bin")) {
                $0.forcedCacheFileExtension("bin")
            },
            Option(property: "progressiveJPEG", item: .progressiveJPEG(progressive)) {
                $0.progressiveJPEG(progressive)
            },
            Option(property: "transition", item: .transition(.fade(1))) { $0.fade(duration: 1) },
            Option(property: "connectTimeout", item: .connectTimeout(3)) { $0.connectTimeout(3) },
            Option(property: "downloadTimeout", item: .downloadTimeout(4)) { $0.downloadTimeout(4) },
            Option(property: "totalTimeout", item: .totalTimeout(5)) { $0.totalTimeout(5) },
            Option(property: "forceTransition", item: .forceTransition) { $0.forceTransition() },
            Option(property: "keepCurrentImageWhileLoading", item: .keepCurrentImageWhileLoading) {
                $0.keepCurrentImageWhileLoading()
            },
            Option(property: "sizedToView", item: .sizedToView) { $0.sizedToView() },
            Option(property: "onFailureImage", item: .onFailureImage(nil)) { $0.onFailureImage(nil) },
        ]
    }

    /// The value of a property as a text that is different for each value.
    private func text(_ options: KingfisherParsedOptionsInfo, _ property: String) -> String? {
        guard let value = Mirror(reflecting: options).children.first(where: { $0.label == property })?.value else {
            return nil
        }
        if let object = (value as? ImageCache?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let object = (value as? ImageDownloader?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let processor = value as? any ImageProcessor { return processor.identifier }
        return "\(value)".replacingOccurrences(of: "(Function)", with: "")
    }

    @Test("Every option can be set by an item and by a builder method") func itemsAndBuilderMethods() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "options", cacheDirectoryURL: directory)
            let downloader = ImageDownloader(name: "options")
            for option in Self.all(cache, downloader) {
                let plain = text(KingfisherParsedOptionsInfo(), option.property)
                let asItem = text(KingfisherParsedOptionsInfo([option.item]), option.property)
                var builder = KF.source(nil)
                builder.options = KingfisherParsedOptionsInfo()
                let asMethod = text(option.chained(builder).options, option.property)
                #expect(asItem != nil && asItem != plain, "the item for \(option.property) changes nothing")
                #expect(asItem == asMethod, "\(option.property) differs between item and method")
            }
        }
    }

    @Test("The list of this suite names every option") func optionList() {
        let properties = Set(Mirror(reflecting: KingfisherParsedOptionsInfo()).children.compactMap(\.label))
        let listed = Set(Self.all(.default, .default).map(\.property))
        #expect(properties.subtracting(["hooks"]) == listed)
    }

    /// The options by what they decide: what is loaded, what is stored, or the result of one subscriber.
    private static let inKey: Set = [
        "refreshFailureIsError",
        "downloader", "forceRefresh", "refreshCached", "respectCacheControl", "fromMemoryCacheOrRefresh",
        "onlyFromCache", "backgroundDecode", "scaleFactor", "queryCacheLayers", "originalQueryCacheLayers",
        "requestModifier", "redirectHandler", "responseModifier", "decryptor", "dataModifier", "processor",
        "onlyLoadFirstFrame", "preloadAllAnimationData",
        "animatedProcessing", "vectorProcessing", "processingQueue", "lowDataModeSource", "connectTimeout",
        "downloadTimeout", "totalTimeout", "cacheKeyFilter", "memoryCacheAccessExtendingExpiration",
        "diskCacheAccessExtendingExpiration",
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
        "alsoPrefetchToMemory", "hooks",
    ]

    @Test("Every option either decides whether two loads share their work, or belongs to each subscriber")
    func sorting() async throws {
        let properties = Set(Mirror(reflecting: KingfisherParsedOptionsInfo()).children.compactMap(\.label))
        #expect(properties == Self.inKey.union(Self.stored).union(Self.perSubscriber))
        func key(_ options: KingfisherOptionsInfo) -> LoadKey {
            var parsed = KingfisherParsedOptionsInfo(options)
            parsed.resolveProcessor()
            return LoadKey(KeyedSource(.network(fakeURL), parsed))
        }
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "options", cacheDirectoryURL: directory)
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
