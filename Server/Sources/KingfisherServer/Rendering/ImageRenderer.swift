// The renderer of the server: sources, the library's manager and its caches, errors. The routes call it.

import Foundation
package import KFImageURLs
@_spi(Server) package import Kingfisher
package import Logging

/// Makes results through a manager, which keeps them in memory and on disk as they are sent.
///
/// Results of HTTP sources are used as long as the sources' servers allow (`Cache-Control`, `Expires`), and otherwise
/// for `KF_SOURCE_TTL`; then these are asked. `stale-while-revalidate` of a source is done. Those of files are kept
/// until the files change.
package struct ImageRenderer: Rendering {
    let configuration: ServerConfiguration
    private let manager: KingfisherManager
    package let capacity = Capacity(workers: PixelThreads.count)
    private let options: KingfisherOptionsInfo
    /// The server's own image in place of others; nil without one.
    private let fallback: RawImageDataProvider?
    let watermarks: WatermarkKeeper?
    private let stores: [StoreSources]

    /// A renderer with caches in the user's caches directory and a downloader of its own.
    package init(configuration: ServerConfiguration) {
        self.init(configuration: configuration, cache: ImageCache(name: "kf-server"))
    }

    /// A renderer with caches in the user's caches directory, a downloader of its own, and the tier that is set up.
    ///
    /// - Throws: ``InvalidConfiguration`` if the tier's URL is none, or the watermark is no image.
    package init(configuration: ServerConfiguration, logger: Logger) throws(InvalidConfiguration) {
        let tier = try configuration.fleet.makeTier()
        self.init(configuration: configuration)
        _ = try watermarks?.summary()
        try configuration.checkStores()
        let report = StartReport(tier: tier, folder: manager.cache.diskStorage.directoryURL.path)
        logger.info("Shared tier: \(report.tier)")
        if let complaint = report.folderComplaint { logger.warning("\(complaint)") }
        manager.cache.setSharedTier(tier) { change in
            switch change {
            case .available(let tier): logger.notice("The shared tier works again.", metadata: ["tier": "\(tier)"])
            case .unavailable(let tier, let reason):
                logger.warning(
                    "The shared tier has failed five times in a row; it is left alone, and tried every five seconds.",
                    metadata: ["tier": "\(tier)", "reason": "\(reason)"]
                )
            @unknown default: break
            }
        }
    }

    /// A renderer that keeps its results in a cache.
    ///
    /// The limits of the cache are set as they are configured.
    package init(configuration: ServerConfiguration, cache: ImageCache) {
        let manager = KingfisherManager(
            downloader: ImageDownloader(name: "kf-server", for: configuration),
            cache: cache
        )
        manager.allowsFileURLs = false
        // What it keeps is sent to everybody.
        cache.isShared = true
        cache.memoryStorage.config.totalCostLimit = max(configuration.delivery.memoryCacheBytes, 1)
        cache.diskStorage.config.sizeLimit = UInt(clamping: configuration.delivery.diskCacheBytes)
        self.init(configuration: configuration, manager: manager)
    }

    /// A renderer that works through a manager, whose settings it leaves alone; it adds loaders for stores of sources.
    package init(configuration: ServerConfiguration, manager: KingfisherManager) {
        (self.configuration, self.manager) = (configuration, manager)
        (fallback, watermarks) = (configuration.delivery.fallback.image, WatermarkKeeper(configuration))
        stores = (try? StoreSources.all(configuration)) ?? []
        for store in stores { manager.loaders.add(store) }
        func lifetime(_ longest: Int) -> StorageExpiration {
            let seconds = min(configuration.delivery.maxAge, longest)
            return seconds > 0 ? .seconds(Double(seconds)) : .expired
        }
        guard configuration.delivery.caching == .all else {
            options = [.callbackQueue(.untouch)] + KingfisherOptionsInfo.keptNowhere
            return
        }
        // Use does not prolong it: what a source's server says nothing about would never be asked for again.
        options = [
            .callbackQueue(.untouch), .respectCacheControl,
            .unstatedFreshness(Double(configuration.sources.freshness)),
            .memoryCacheExpiration(lifetime(300)), .memoryCacheAccessExtendingExpiration(.none),
            .diskCacheExpiration(lifetime(.max)), .diskCacheAccessExtendingExpiration(.none),
        ]
    }

    package func cached(_ request: RenderingRequest) async -> RenderedImage? {
        guard configuration.delivery.caching == .all, request.cookies == nil, !request.isReload else { return nil }
        do throws(RenderingError) {
            let source = try source(of: request)
            let watermark = try await watermark(for: request, loads: false)
            let found = await manager.cachedEncoded(
                with: source,
                options: options(for: request, watermark),
                as: request.encoding(in: configuration)
            )
            return found.flatMap { $0.isDamaged ? nil : RenderedImage($0, lastModified: source.lastModified) }
        } catch {
            return nil
        }
    }

    package func purge(_ plan: ImagePlan, _ mode: PurgeMode) async throws(RenderingError) {
        try await purge(.source(key: try source(of: plan).cacheKey), mode)
    }

    package func purge(_ scope: PurgeScope, _ mode: PurgeMode) async throws(RenderingError) {
        var scope = scope
        if case .prefix(let text) = scope { scope = .prefix(keyPrefix(of: text)) }
        do { try await manager.cache.purge(scope, mode: mode) } catch {
            throw RenderingError(status: 503, kind: "timeout", reason: error.description, retryAfter: 1)
        }
    }

    private var localFiles: LocalFiles? {
        let sources = configuration.sources
        return sources.localRoot.map { LocalFiles(root: $0, querySeparator: sources.querySeparator) }
    }

    /// The beginning of the keys of sources that begin with a text, which is read as a source is.
    private func keyPrefix(of text: String) -> String {
        if text.utf8.starts(with: LocalFiles.scheme), let files = localFiles {
            return files.keyPrefix(of: text) ?? text
        }
        // As the keys of objects are in URLs.
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        if ["s3:", "gs:"].contains(parts[0]), parts.count == 4, let path = StoredObject.escaped(String(parts[3])) {
            return "\(parts[0])//\(parts[2])/\(path)"
        }
        var bytes = Array(text.utf8)
        // Of an escape that is cut off, the `%` would become an escape of its own.
        if let percent = bytes.suffix(2).lastIndex(of: UInt8(ascii: "%")),
            bytes[(percent + 1)...].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        {
            bytes.removeSubrange(percent...)
        }
        return lenientURL(bytes)?.absoluteString ?? text
    }

    package var tierStatistics: SharedTierStatistics? { manager.cache.sharedTierStatistics }

    package func memoryLookup(for request: RenderingRequest) -> MemoryLookup {
        guard let source = try? source(of: request) else { return { nil } }
        let watermarks = wantsWatermark(request) ? watermarks : nil
        let watermark = watermarks?.newest
        if watermarks != nil, watermark == nil { return { nil } }
        let encoding = request.encoding(in: configuration)
        let encoded = manager.encodedRequest(with: source, options: options(for: request, watermark), as: encoding)
        let lastModified = source.lastModified
        return { [manager] in
            if watermarks?.newest?.identifier != watermark?.identifier { return nil }
            if case .provider(let file as LocalFile) = source, !file.isUnchanged { return nil }
            return manager.encodedInMemory(encoded).flatMap {
                $0.isDamaged ? nil : RenderedImage($0, lastModified: lastModified)
            }
        }
    }

    package func render(
        _ request: RenderingRequest,
        in slot: RenderingSlot? = nil,
        within seconds: Double = .infinity
    ) async throws(RenderingError) -> RenderedImage {
        let start = ContinuousClock.now
        let source = try source(of: request)
        let making = Making(in: slot, of: capacity, until: start + .seconds(min(seconds, 1e6)))
        let processor = PlanProcessor(
            request,
            configuration,
            watermark: try await watermark(for: request, loads: true),
            making
        )
        try making.checkTime(for: request.plan.sourceBytes, processor.work)
        let options = options(for: request, with: processor)
        let image = try await image(of: source, for: request, making, options, within: seconds)
        if image.isDamaged, configuration.sources.damaged == .error { throw .incomplete }
        var rendered = RenderedImage(image, lastModified: source.lastModified)
        rendered.times = making.times(since: start)
        rendered.origin = making.origin
        rendered.warning = making.warning
        return rendered
    }

    /// Loads a result, and gives up where its source has not come in time.
    private func image(
        of source: Source,
        for request: RenderingRequest,
        _ making: Making,
        _ options: KingfisherOptionsInfo,
        within seconds: Double
    ) async throws(RenderingError) -> EncodedImage {
        let load = Task { [manager] () async -> Result<EncodedImage, KingfisherError> in
            do throws(KingfisherError) {
                return .success(
                    try await manager.retrieveEncoded(
                        with: source,
                        options: options,
                        as: request.encoding(in: configuration)
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        // Waiting for a connection to the source's server is a part of the source's time.
        let timer = Task { [secondsForSource = configuration.secondsForSource] in
            try await Task.sleep(for: .seconds(min(seconds, 1e6, secondsForSource)))
            if making.isWithoutSource { load.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await load.value
        } onCancel: {
            load.cancel()
        }
        timer.cancel()
        do throws(KingfisherError) { return try result.get() } catch {
            guard error.isCancelled, !Task.isCancelled, making.isWithoutSource else { throw failure(error, source) }
            throw .sourceTimedOut(at: source.url?.host ?? "The folder of sources")
        }
    }

    package func renew(_ request: RenderingRequest, in slot: RenderingSlot?) async {
        let making = Making(in: slot, of: capacity, until: .now + .seconds(configuration.timeout))
        // Where it fails, the next request finds out.
        try? await renew(request, making)
    }

    private func renew(_ request: RenderingRequest, _ making: Making) async throws {
        let watermark = try await watermark(for: request, loads: true)
        let processor = PlanProcessor(request, configuration, watermark: watermark, making)
        _ = try await manager.retrieveEncoded(
            with: try source(of: request),
            options: options(for: request, with: processor) + [.refreshCached],
            as: request.encoding(in: configuration)
        )
    }

    package var maxSourceBytes: Int { manager.downloader.maxBytesInFlight }

    package var isMemoryFull: Bool {
        let downloader = manager.downloader
        return downloader.queueStatus.bytesInFlight >= downloader.maxBytesInFlight
    }

    /// The options of a look-up.
    private func options(for request: RenderingRequest, _ watermark: Watermark?) -> KingfisherOptionsInfo {
        options(for: request, with: PlanProcessor(request, configuration, watermark: watermark, nil))
    }

    private func options(for request: RenderingRequest, with processor: PlanProcessor) -> KingfisherOptionsInfo {
        options + [.processor(processor), .cacheTags(request.plan.delivery.cacheTags)]
            + (request.isReload ? [.refreshCached] : [])
            + (request.cookies.map(CookieModifier.options) ?? [])
            + (request.upload == nil ? [] : KingfisherOptionsInfo.keptNowhere)
    }

    private func source(of request: RenderingRequest) throws(RenderingError) -> Source {
        if let upload = request.upload { return .provider(upload.provider) }
        guard request.isFallback else { return try source(of: request.plan) }
        guard let fallback else { throw LocalFiles.missing }
        return .provider(fallback)
    }

    private func source(of plan: ImagePlan) throws(RenderingError) -> Source {
        let text = plan.source
        let scheme = text.utf8.firstIndex(of: UInt8(ascii: ":")).map { text[..<$0].lowercased() }
        switch scheme {
        case "http", "https":
            guard let url = lenientURL(plan.sourceBytes), url.host?.isEmpty == false else {
                throw RenderingError(status: 404, kind: "source_refused", reason: "The source is no URL with a host.")
            }
            return .network(version(plan.delivery.cacheBuster, of: url))
        case "local":
            guard let files = localFiles, plan.sourceBytes.starts(with: LocalFiles.scheme) else {
                let reason = "Sources of local:// need KF_LOCAL_FILESYSTEM_ROOT."
                throw RenderingError(status: 404, kind: "source_refused", reason: reason)
            }
            let file = try files.file(plan.sourceBytes)
            try SourceCheck(configuration.sources, plan).byteCount(file.byteCount)
            return .provider(file)
        case let scheme? where scheme == "s3" || scheme == "gs":
            guard let store = stores.first(where: { $0.scheme == scheme }) else {
                let reason = "Sources of \(scheme):// need \(scheme == "s3" ? "KF_USE_S3" : "KF_USE_GCS")."
                throw RenderingError(status: 404, kind: "source_refused", reason: reason)
            }
            return .network(version(plan.delivery.cacheBuster, of: try store.url(of: plan.sourceBytes)))
        case "abs", "swift":
            let reason = "Sources of abs:// and swift:// cannot be read here; use their addresses of https, or s3://."
            throw RenderingError(status: 404, kind: "source_refused", reason: reason)
        default:
            let reason = "The source is no URL of http, https, local, s3 or gs."
            throw RenderingError(status: 404, kind: "source_refused", reason: reason)
        }
    }

    /// A source under its own key, by which it is purged.
    ///
    /// Requests for one version must not be given a download that was begun for another one: to the library, these have
    /// different URLs. The fragment, in which they differ, is not sent.
    private func version(_ version: String, of url: URL) -> any Resource {
        let text = url.absoluteString.utf8.prefix { $0 != UInt8(ascii: "#") }
        let fragment = encodedBase64URL(version.utf8).utf8
        guard !version.isEmpty, let other = lenientURL(Array(text) + [UInt8(ascii: "#")] + fragment) else { return url }
        return KF.ImageResource(downloadURL: other, cacheKey: url.cacheKey)
    }

    private func failure(_ error: KingfisherError, _ source: Source) -> RenderingError {
        guard case .processorError(.processingFailed(let processor, _)) = error else {
            return RenderingError(error, of: source.url?.host ?? "The folder of sources")
        }
        return (processor as? PlanProcessor)?.making?.error ?? .notEncodable
    }
}

extension RenderedImage {
    fileprivate init(_ image: EncodedImage, lastModified: String?) {
        self.init(image: image, entityTag: image.entityTag)
        isStale = image.isStale
        if let lastModified { self.lastModified = lastModified }
    }
}

extension Source {
    /// When a file was changed, as a field of HTTP; what a server says of its source comes with the result.
    fileprivate var lastModified: String? {
        if case .provider(let file as LocalFile) = self { file.lastModified } else { nil }
    }
}
