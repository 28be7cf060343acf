// The one list of options, and the two lists of names for it.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

@Suite struct OptionsTests {
    /// Every option: its property, and both ways of saying it.
    ///
    /// A property that is missing here fails a test below.
    private struct Said: Sendable {
        let property: String
        let item: KingfisherOptionsInfoItem
        let chained: @Sendable (KF.Builder) -> KF.Builder
    }

    private static let modifier = AnyModifier { $0 }
    private static let progressive = ImageProgressive()
    private static let redirects = AnyRedirectHandler { _, _, request, done in done(request) }
    private static let alternative = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "alternative"))

    private static func all(_ cache: ImageCache, _ downloader: ImageDownloader) -> [Said] {
        [
            Said(property: "targetCache", item: .targetCache(cache)) { $0.targetCache(cache) },
            Said(property: "originalCache", item: .originalCache(cache)) { $0.originalCache(cache) },
            Said(property: "downloader", item: .downloader(downloader)) { $0.downloader(downloader) },
            Said(property: "downloadPriority", item: .downloadPriority(0.9)) { $0.downloadPriority(0.9) },
            Said(property: "forceRefresh", item: .forceRefresh) { $0.forceRefresh() },
            Said(property: "fromMemoryCacheOrRefresh", item: .fromMemoryCacheOrRefresh) {
                $0.fromMemoryCacheOrRefresh()
            },
            Said(property: "cacheMemoryOnly", item: .cacheMemoryOnly) { $0.cacheMemoryOnly() },
            Said(property: "waitForCache", item: .waitForCache) { $0.waitForCache() },
            Said(property: "onlyFromCache", item: .onlyFromCache) { $0.onlyFromCache() },
            Said(property: "backgroundDecode", item: .backgroundDecode) { $0.backgroundDecode() },
            Said(property: "callbackQueue", item: .callbackQueue(.untouch)) { $0.callbackQueue(.untouch) },
            Said(property: "scaleFactor", item: .scaleFactor(3)) { $0.scaleFactor(3) },
            Said(property: "requestModifier", item: .requestModifier(modifier)) { $0.requestModifier(modifier) },
            Said(property: "redirectHandler", item: .redirectHandler(redirects)) { $0.redirectHandler(redirects) },
            Said(property: "processor", item: .processor(CountingProcessor())) { $0.setProcessor(CountingProcessor()) },
            Said(property: "onlyLoadFirstFrame", item: .onlyLoadFirstFrame) { $0.onlyLoadFirstFrame() },
            Said(property: "preloadAllAnimationData", item: .preloadAllAnimationData) { $0.preloadAllAnimationData() },
            Said(property: "animatedProcessing", item: .animatedProcessing(.transformFrames)) {
                $0.animatedProcessing(.transformFrames)
            },
            Said(property: "cacheSerializer", item: .cacheSerializer(FormatIndicatedCacheSerializer.png)) {
                $0.serialize(by: FormatIndicatedCacheSerializer.png)
            },
            Said(property: "imageModifier", item: .imageModifier(AnyImageModifier { $0 })) {
                $0.imageModifier(AnyImageModifier { $0 })
            },
            Said(property: "cacheOriginalImage", item: .cacheOriginalImage) { $0.cacheOriginalImage() },
            Said(property: "loadDiskFileSynchronously", item: .loadDiskFileSynchronously) {
                $0.loadDiskFileSynchronously()
            },
            Said(property: "memoryCacheExpiration", item: .memoryCacheExpiration(.seconds(5))) {
                $0.memoryCacheExpiration(.seconds(5))
            },
            Said(
                property: "memoryCacheAccessExtendingExpiration",
                item: .memoryCacheAccessExtendingExpiration(.none)
            ) { $0.memoryCacheAccessExtending(.none) },
            Said(property: "diskCacheExpiration", item: .diskCacheExpiration(.days(2))) {
                $0.diskCacheExpiration(.days(2))
            },
            Said(property: "diskCacheAccessExtendingExpiration", item: .diskCacheAccessExtendingExpiration(.none)) {
                $0.diskCacheAccessExtending(.none)
            },
            Said(property: "processingQueue", item: .processingQueue(.untouch)) { $0.processingQueue(.untouch) },
            Said(property: "alternativeSources", item: .alternativeSources([alternative])) {
                $0.alternativeSources([alternative])
            },
            Said(property: "lowDataModeSource", item: .lowDataMode(alternative)) { $0.lowDataModeSource(alternative) },
            Said(property: "retryStrategy", item: .retryStrategy(DelayRetryStrategy(maxRetryCount: 1))) {
                $0.retry(maxCount: 1)
            },
            Said(property: "diskStoreWriteOptions", item: .diskStoreWriteOptions(.withoutOverwriting)) {
                $0.diskStoreWriteOptions(.withoutOverwriting)
            },
            Said(property: "forcedExtension", item: .forcedCacheFileExtension("bin")) {
                $0.forcedCacheFileExtension("bin")
            },
            Said(property: "progressiveJPEG", item: .progressiveJPEG(progressive)) { $0.progressiveJPEG(progressive) },
        ]
    }

    /// What a property holds, as text that tells its values apart.
    private func text(_ options: KingfisherParsedOptionsInfo, _ property: String) -> String? {
        guard let value = Mirror(reflecting: options).children.first(where: { $0.label == property })?.value else {
            return nil
        }
        if let object = (value as? ImageCache?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let object = (value as? ImageDownloader?) ?? nil { return "\(ObjectIdentifier(object))" }
        if let processor = value as? any ImageProcessor { return processor.identifier }
        return "\(value)".replacingOccurrences(of: "(Function)", with: "")
    }

    @Test func everyOptionCanBeSaidBothWays() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "options", cacheDirectoryURL: directory)
            let downloader = ImageDownloader(name: "options")
            for said in Self.all(cache, downloader) {
                let plain = text(KingfisherParsedOptionsInfo(), said.property)
                let asItem = text(KingfisherParsedOptionsInfo([said.item]), said.property)
                var builder = KF.source(nil)
                builder.options = KingfisherParsedOptionsInfo()
                let asMethod = text(said.chained(builder).options, said.property)
                #expect(asItem != nil && asItem != plain, "the item for \(said.property) changes nothing")
                #expect(asItem == asMethod, "\(said.property) differs between item and method")
            }
        }
    }

    @Test func noOptionIsForgotten() {
        let inner: Set = [
            "onDataReceived", "onTransferLinked", "onTransferStarted", "sourceTaskIdentifierChecker", "httpFacts",
            "countsMemoryMiss",
        ]
        let properties = Set(Mirror(reflecting: KingfisherParsedOptionsInfo()).children.compactMap(\.label))
        let said = Set(Self.all(.default, .default).map(\.property))
        #expect(properties.subtracting(inner) == said)
    }

    @Test("OPT-1: later items override earlier ones")
    func laterItemsWin() {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2), .downloadPriority(0.1), .scaleFactor(3)])
        #expect(options.scaleFactor == 3)
        #expect(options.downloadPriority == 0.1)
    }

    @Test("OPT-3: the original cache is the target cache unless given")
    func theOriginalCacheFollowsTheTargetCache() {
        let options = KingfisherParsedOptionsInfo([.targetCache(.default)])
        #expect(options.originalCache === ImageCache.default)
        #expect(KingfisherParsedOptionsInfo(nil).originalCache == nil)
    }

    @Test("MGR-1: the manager's own settings, then its defaults, then the call's")
    func callOptionsWinOverDefaults() {
        let manager = KingfisherManager(downloader: .default, cache: .default)
        manager.defaultOptions = [.scaleFactor(2), .waitForCache]
        let options = manager.parsed([.scaleFactor(3)])
        #expect(options.scaleFactor == 3)
        #expect(options.waitForCache)
        #expect(options.targetCache === manager.cache)
        #expect(options.downloader === manager.downloader)
    }

    @Test("KFB-1: a setter leaves the builder it is called on alone")
    func settersCopy() {
        let builder = KF.source(nil).scaleFactor(2)
        let changed = builder.forceRefresh().scaleFactor(3)
        #expect(builder.options.scaleFactor == 2 && !builder.options.forceRefresh)
        #expect(changed.options.scaleFactor == 3 && changed.options.forceRefresh)
    }

    @Test("KFB-2, KFB-3, F-20: processors chain, downsampling takes the default's place, keys are equal")
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
