// What a load is to do, decided before anything is looked up. For the manager and its loads.

import Foundation
import KFSupport

extension KingfisherManager {
    /// How a load begins.
    enum Beginning {
        /// With its image, which is in memory.
        case hit(RetrieveImageResult)
        /// With a plan, and what memory has.
        case plan(LoadPlan, MemoryAnswer)
    }

    /// Asks memory, unless the source is refused; never waits and makes no system call.
    // Not inlined: an async function takes what it works with from the heap, and this takes much.
    @inline(never) func beginning(of source: Source, _ options: inout KingfisherParsedOptionsInfo) -> Beginning {
        process(&options, for: source)
        options.resolveProcessor()
        let key = EntryKey(source, options)
        let isRefused = rules.refusal(of: source, options) != nil
        let asksServer = options.asksServer(about: source)
        let answer = isRefused ? .nothing : options.askMemory(key, asksServer: asksServer)
        guard case .image(let image) = answer else { return .plan(LoadPlan(source, options, key), answer) }
        return .hit(RetrieveImageResult(inMemory: image, of: source, options, requested: source))
    }

    /// Has the options processor change the options of a load; it does so once, however often this is called.
    func process(_ options: inout KingfisherParsedOptionsInfo, for source: Source) {
        guard let processor = options.optionsProcessor else { return }
        let begun = options
        options = processor.processed(options, for: source)
        options.optionsProcessor = nil
        options.load = begun.load
        options.targetCache = options.targetCache ?? cache
    }
}

/// What is loaded, under which keys it is cached, and with which options; made once for each source that a load tries.
///
/// It is handed from step to step, and its options are read where they are: a copy of them costs more than most steps.
final class LoadPlan: Sendable {
    let source: Source
    let options: KingfisherParsedOptionsInfo
    /// The keys of the source and of the image in a cache.
    let key: EntryKey
    /// Whether the server may have to be asked about what is cached.
    let asksServer: Bool
    /// Which purge was the last one before it was made; 0 before the first.
    let generation: UInt64

    init(_ source: Source, _ options: KingfisherParsedOptionsInfo, _ key: EntryKey? = nil) {
        (self.source, self.options, self.key) = (source, options, key ?? EntryKey(source, options))
        asksServer = options.asksServer(about: source)
        let caches = (options.targetCache, options.originalCache)
        generation = max(caches.0?.purgeGeneration ?? 0, caches.1?.purgeGeneration ?? 0)
    }

    private init(_ plan: LoadPlan, _ options: KingfisherParsedOptionsInfo) {
        (source, key, generation, self.options) = (plan.source, plan.key, plan.generation, options)
        asksServer = options.asksServer(about: source)
    }

    /// A plan for the same source and keys with other options.
    func with(_ change: (inout KingfisherParsedOptionsInfo) -> Void) -> LoadPlan {
        var options = options
        change(&options)
        return LoadPlan(self, options)
    }

    /// Where the bytes are stored as they came.
    var layersToStoreForOriginal: CacheLayers {
        guard options.load.keepsDownload, case .network = source, options.originalStoreCacheLayers == nil,
            !options.processor.identifier.isEmpty
        else { return options.layersToStoreForOriginal }
        return .disk
    }

    /// The error of a load that finds nothing, where caches are all there is, or that no subscriber wants any more.
    var notExisting: KingfisherError { .cacheError(reason: .imageNotExisting(key: key.source)) }

    /// Asks memory for the image.
    func askMemory() -> MemoryAnswer { options.askMemory(key, asksServer: asksServer) }

    // MARK: Identities

    /// By which loads share their work: all that decides where an image is found, what is made and what is stored, and
    /// under which conditions loading fails.
    ///
    /// Priority, waiting for the cache, alternative sources and the image modifier are no part of it: they differ from
    /// subscriber to subscriber.
    final class Identity: Hashable, Sendable {
        private let made: ImageIdentity
        let stored: EntryIdentity
        private let sent: RequestIdentity

        fileprivate init(_ plan: LoadPlan) {
            // Stills are the same with and without preloading; animations are made again for subscribers that want them
            // otherwise.
            made = ImageIdentity(plan.options, ignoringPreloading: true)
            stored = EntryIdentity(plan.key.computed, plan.options, originalLayers: plan.layersToStoreForOriginal)
            sent = RequestIdentity(plan)
        }

        static func == (lhs: Identity, rhs: Identity) -> Bool {
            lhs === rhs || (lhs.stored == rhs.stored && lhs.made == rhs.made && lhs.sent == rhs.sent)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(stored.key) }
    }

    /// By which loads of this plan share their work.
    var identity: Identity { Identity(self) }
}

/// What memory has of an image.
enum MemoryAnswer: Sendable {
    /// The image as it is wanted.
    case image(KFCrossPlatformImage)
    /// An animation that was made with other options; its bytes are decoded again.
    case otherwise(KFCrossPlatformImage)
    case nothing
}

extension KingfisherParsedOptionsInfo {
    /// The one question to memory: when a load begins, and again when it has waited.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - asksServer: Whether its server may have to be asked about the image, so that it must be fresh.
    /// - Returns: The image, if there is one.
    func askMemory(_ key: EntryKey, asksServer: Bool) -> MemoryAnswer {
        guard !forceRefresh, queryCacheLayers.contains(.memory), let cache = targetCache,
            let image = asksServer ? cache.findFreshInMemory(key, self) : cache.findInMemory(key, self)
        else { return .nothing }
        if image.satisfies(self) { return .image(image) }
        return asksServer ? .nothing : .otherwise(image)
    }

    /// Whether the server of a source may have to be asked about what is cached.
    func asksServer(about source: Source) -> Bool {
        guard refreshCached || respectCacheControl, !onlyFromCache, !forceRefresh, case .network = source else {
            return false
        }
        return true
    }

    /// Resolves the processor that is used, whose identifier is part of the key.
    mutating func resolveProcessor() {
        guard animatedProcessing != .firstFrame || vectorProcessing != .process || load.encoding != nil else { return }
        if let encoding = load.encoding, !(processor is EncodedProcessor) { return encodeResult(as: encoding) }
        processor = resolved(processor)
    }
}

/// What is looked up and requested, and under which conditions that fails.
private struct RequestIdentity: Equatable, Sendable {
    /// Nil where a filter makes the cache key: sources with the same key then are the same.
    private let source: SourceKey?
    private let forceRefresh: Bool
    private let refreshCached: Bool
    private let refreshFailureIsError: Bool
    private let respectCacheControl: Bool
    private let unstatedFreshness: Double?
    private let layers: CacheLayers
    private let originalLayers: CacheLayers
    private let onlyFromCache: Bool
    private let isLookupOnly: Bool
    private let generation: UInt64
    private let tags: Set<String>
    private let savesData: Bool
    private let connectTimeout: TimeInterval?
    private let downloadTimeout: TimeInterval?
    private let totalTimeout: TimeInterval?
    private let downloader: ObjectIdentifier?
    private let memoryExtending: ExpirationExtending
    private let diskExtending: ExpirationExtending
    /// The code that changes the request, redirects, the response and its bytes.
    ///
    /// Loads with code that cannot be compared may still share transfers, images and entries made of the same bytes.
    private let code: UserCode

    init(_ plan: LoadPlan) {
        let options = plan.options
        source = plan.source.filteredKey(options) == nil ? SourceKey(plan.source) : nil
        forceRefresh = options.forceRefresh
        refreshCached = options.refreshCached
        refreshFailureIsError = options.refreshFailureIsError
        respectCacheControl = options.respectCacheControl
        unstatedFreshness = options.unstatedFreshness
        layers = options.layersToQuery
        // Without the disk, neither is the original looked up there.
        originalLayers = options.fromMemoryCacheOrRefresh ? .memory : options.originalQueryCacheLayers
        onlyFromCache = options.onlyFromCache
        isLookupOnly = options.load.isLookupOnly
        generation = plan.generation
        tags = options.cacheTags
        savesData = options.lowDataModeSource != nil
        connectTimeout = options.connectTimeout
        downloadTimeout = options.downloadTimeout
        totalTimeout = options.totalTimeout
        downloader = options.downloader.map { ObjectIdentifier($0) }
        memoryExtending = options.memoryCacheAccessExtendingExpiration
        diskExtending = options.diskCacheAccessExtendingExpiration
        code = UserCode(
            requestModifier: options.requestModifier,
            redirectHandler: options.redirectHandler,
            responseModifier: options.responseModifier,
            decryptor: options.decryptor,
            dataModifier: options.dataModifier
        )
    }
}
