// Results as bytes of a file: for servers and programs that send images on.

extension KingfisherManager {
    /// Finds or makes the image of a source as the bytes of a file. (Not in Kingfisher.)
    ///
    /// What is cached is the file: it comes from memory or from disk without being decoded or encoded again. All that
    /// ask for the same at one time share one load, and those that ask for other formats or qualities of the image
    /// share its download, its decoding and its processing. In memory a file takes its own size; the image it was made
    /// of is not kept. Options and their effects are those of
    /// ``retrieveImage(with:options:progressBlock:)-(Source,_,_)``; ``KingfisherParsedOptionsInfo/imageModifier`` has
    /// none, and with ``ImageEncoding/Frames/all`` the processor is applied to each frame.
    ///
    /// ```swift
    /// let thumbnail = ThumbnailImageProcessor(size: CGSize(width: 300, height: 200))
    /// let image = try await KingfisherManager.shared.retrieveEncoded(
    ///     with: .network(url), options: [.processor(thumbnail), .respectCacheControl], as: ImageEncoding(.webp))
    /// return Response(headers: [.contentType: image.mimeType], body: image.data)
    /// ```
    /// Removing the source from the cache removes its encoded results. One that is being made meanwhile may be stored
    /// afterwards.
    ///
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: How it is loaded, processed and cached.
    ///   - encoding: The format, the quality and the like.
    ///   - progressBlock: Called with the download's progress, on the main queue, when its length is known.
    /// - Returns: The file.
    /// - Throws: ``KingfisherError``: as for an image; when it cannot be encoded,
    ///   ``KingfisherError/ProcessorErrorReason/processingFailed(processor:item:)``.
    public func retrieveEncoded(
        with source: Source,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding(),
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> EncodedImage {
        try await encoded(source, encodingOptions(options, encoding), progressBlock)
    }

    /// The file that is cached, if it may be sent without asking the server. (Not in Kingfisher.)
    ///
    /// Nothing is downloaded, decoded or encoded for it: a server that has a queue for such work asks here first. With
    /// ``KingfisherParsedOptionsInfo/respectCacheControl``, a file that is no longer fresh is no result, unless it may
    /// be used while its server is asked (`stale-while-revalidate`): then ``EncodedImage/isStale`` is true, and asking
    /// is up to the caller.
    ///
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: The options of the load.
    ///   - encoding: The format, the quality and the like.
    /// - Returns: The file; nil if there is none, if it cannot be read, and for a cancelled task.
    public func cachedEncoded(
        with source: Source,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding()
    ) async -> EncodedImage? {
        var parsed = encodingOptions(options, encoding)
        parsed.load.isLookupOnly = true
        parsed.retryStrategy = nil
        guard var found = try? await encoded(source, parsed, nil) else { return nil }
        if case .inBackground? = found.revalidation { (found.revalidation, found.isStale) = (nil, true) }
        return found
    }

    /// The request for a file, with its options read once: for a server that is asked for the same again and again.
    /// (Not in Kingfisher.)
    ///
    /// - Parameters:
    ///   - source: Where the image comes from.
    ///   - options: The options of the load; those of the manager are taken as they are now.
    ///   - encoding: The format, the quality and the like.
    /// - Returns: What ``encodedInMemory(_:)`` takes.
    public func encodedRequest(
        with source: Source,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding()
    ) -> EncodedRequest {
        var parsed = encodingOptions(options, encoding)
        process(&parsed, for: source)
        parsed.resolveProcessor()
        parsed.load.countsMemoryMiss = false
        return EncodedRequest(plan: LoadPlan(source, parsed))
    }

    /// The file that is in memory, if it may be sent without asking the server; never waits. (Not in Kingfisher.)
    ///
    /// A miss is not counted: ask ``cachedEncoded(with:options:as:)-(Source,_,_)`` then.
    ///
    /// - Parameter request: The request.
    /// - Returns: The file; nil if there is none, or none that is fresh.
    public func encodedInMemory(_ request: EncodedRequest) -> EncodedImage? {
        let plan = request.plan
        guard rules.refusal(of: plan.source, plan.options) == nil, case .image(let image) = plan.askMemory(),
            let content = image.metadata.encoded
        else { return nil }
        var encoded = EncodedImage(content, isDamaged: image.isDamaged)
        encoded.cacheType = .memory
        return encoded
    }

    private func encodingOptions(
        _ options: KingfisherOptionsInfo?,
        _ encoding: ImageEncoding
    ) -> KingfisherParsedOptionsInfo {
        var parsed = parsed(options)
        parsed.load.encoding = encoding
        parsed.onStaleImage = nil
        parsed.progressiveJPEG = nil
        return parsed
    }

    private func encoded(
        _ source: Source,
        _ options: consuming KingfisherParsedOptionsInfo,
        _ progressBlock: DownloadProgressBlock?
    ) async throws(KingfisherError) -> EncodedImage {
        let result = try await retrieveImage(with: source, parsed: options, progressBlock: progressBlock)
        guard let content = result.image.metadata.encoded else {
            // A cache of the user's gave an image of its own.
            throw .cacheError(reason: .imageNotExisting(key: source.cacheKey))
        }
        var encoded = EncodedImage(content, isDamaged: result.image.isDamaged)
        encoded.cacheType = result.cacheType
        encoded.cacheMetadata = result.cacheMetadata ?? encoded.cacheMetadata
        encoded.revalidation = result.revalidation
        return encoded
    }

    /// The same for a resource, such as a URL.
    public func retrieveEncoded(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding(),
        progressBlock: DownloadProgressBlock? = nil
    ) async throws(KingfisherError) -> EncodedImage {
        let source = resource.convertToSource()
        return try await retrieveEncoded(with: source, options: options, as: encoding, progressBlock: progressBlock)
    }

    /// The file that is cached of a resource, such as a URL, if it may be sent without asking the server. (Not in
    /// Kingfisher.)
    public func cachedEncoded(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding()
    ) async -> EncodedImage? {
        await cachedEncoded(with: resource.convertToSource(), options: options, as: encoding)
    }

    /// The request for the file of a resource, such as a URL, with its options read once. (Not in Kingfisher.)
    public func encodedRequest(
        with resource: any Resource,
        options: KingfisherOptionsInfo? = nil,
        as encoding: ImageEncoding = ImageEncoding()
    ) -> EncodedRequest {
        encodedRequest(with: resource.convertToSource(), options: options, as: encoding)
    }
}

/// A request for an image as the bytes of a file, ready to be looked up; see
/// ``KingfisherManager/encodedRequest(with:options:as:)-(Source,_,_)``. (Not in Kingfisher.)
public struct EncodedRequest: Sendable {
    let plan: LoadPlan
}
