// `KF.url(…)` and the builder that it returns, which starts a load by the manager; and what the block of its
// `redirectHandler(_:)` is given.

public import Foundation
public import FoundationNetworking

extension KF {
    /// A load that has not begun: a source, options and handlers, set by chained methods, each of which returns a
    /// changed copy.
    public struct Builder: KFOptionSetter, Sendable {
        let source: Source?
        let manager: KingfisherManager
        var placeholder: (any Placeholder)?

        /// The options, at first the manager's.
        public var options: KingfisherParsedOptionsInfo
        /// The handlers that are called while the image is loaded, and at the end.
        public var handlers = KFLoadHandlers()

        init(source: Source?, manager: KingfisherManager) {
            self.source = source
            self.manager = manager
            options = manager.parsed(nil)
        }

        /// Starts the load without a view; the handlers are called with the outcome, on the main actor.
        ///
        /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
        @discardableResult
        public func start() -> DownloadTask? {
            let handlers = handlers
            guard let source else {
                CallbackQueue.mainCurrentOrAsync.execute {
                    MainActor.assumeIsolated { handlers.call(.failure(.imageSettingError(reason: .emptySource))) }
                }
                return nil
            }
            var options = options
            manager.process(&options, for: source)
            options.callbackQueue = .mainCurrentOrAsync
            return manager.retrieveImage(with: source, parsed: options, progressBlock: handlers.progress) { result in
                MainActor.assumeIsolated { handlers.call(result) }
            }
        }

        /// Loads the image without a view.
        ///
        /// The success and failure handlers are not called. (Not in Kingfisher.)
        ///
        /// - Returns: The image and where it was found.
        /// - Throws: ``KingfisherError``.
        public func retrieve() async throws(KingfisherError) -> RetrieveImageResult {
            guard let source else { throw .imageSettingError(reason: .emptySource) }
            return try await manager.retrieveImage(with: source, parsed: options, progressBlock: handlers.progress)
        }
    }

    /// Describes a load of a source.
    ///
    /// - Parameters:
    ///   - source: Where the image comes from; nil fails with ``KingfisherError/ImageSettingErrorReason/emptySource``.
    ///   - manager: Loads it.
    /// - Returns: The load, not begun.
    public static func source(_ source: Source?, manager: KingfisherManager = .shared) -> Builder {
        Builder(source: source, manager: manager)
    }

    /// Describes a load of a resource.
    public static func resource(_ resource: (any Resource)?, manager: KingfisherManager = .shared) -> Builder {
        source(resource?.convertToSource(), manager: manager)
    }

    /// Describes a load from a URL.
    public static func url(_ url: URL?, cacheKey: String? = nil, manager: KingfisherManager = .shared) -> Builder {
        source(url?.convertToSource(overrideCacheKey: cacheKey), manager: manager)
    }

    /// Describes a load from a provider.
    public static func dataProvider(
        _ provider: (any ImageDataProvider)?,
        manager: KingfisherManager = .shared
    ) -> Builder {
        source(provider?.convertToSource(), manager: manager)
    }

    /// Describes a load from bytes at hand; for bytes without a cache key see ``EncodedImage/made(from:options:as:)``
    /// and `Image.decoded(from:options:)`.
    public static func data(_ data: Data?, cacheKey: String, manager: KingfisherManager = .shared) -> Builder {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) }, manager: manager)
    }
}

extension KF {
    /// A redirect to be decided on, see `KFOptionSetter.redirectHandler(_:)`.
    public struct RedirectPayload: Sendable {
        /// The transfer.
        public let task: SessionDataTask
        /// The 3xx response.
        public let response: HTTPURLResponse
        /// The request that would be sent, without credentials when it leads to another origin.
        public let newRequest: URLRequest
        /// To be called with the request to follow, changed or not; nil takes the redirect itself as the response.
        ///
        /// The first call counts, from any thread; without any the download ends in its timeout.
        public let completionHandler: @Sendable (URLRequest?) -> Void
    }
}
