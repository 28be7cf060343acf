// Providers: sources of image data that is not downloaded, such as files and bytes at hand.

public import Foundation
import KFSupport

/// Gives the bytes of one image.
///
/// Implement one of the two `data` requirements; each has a default in terms of the other. A provider that implements
/// neither ends the program with a message when it is asked.
public protocol ImageDataProvider: Sendable, SourceConvertible {
    /// The key in the caches.
    var cacheKey: String { get }
    /// Where the content comes from, if that has a URL. Nil by default.
    var contentURL: URL? { get }
    /// The bytes. The task this runs in is cancelled with the load.
    ///
    /// A load calls this on threads that are kept for code of the program: it may block, also until another load has
    /// ended, without holding up others. Up to 512 calls of such code can block at one time.
    func data() async throws -> Data
    /// The bytes, to a handler that must be called exactly once, on any thread.
    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void)
}

extension ImageDataProvider {
    /// Nil: the content has no URL.
    public var contentURL: URL? { nil }

    /// This provider as a source.
    public func convertToSource() -> Source { .provider(self) }

    /// The bytes, through the handler form.
    ///
    /// A cancelled load discards a result that comes late.
    public func data() async throws -> Data {
        let depth = ProviderForms.depth
        guard depth < 100 else {
            fatalError("\(Self.self) implements neither data() nor data(handler:); it needs one of them")
        }
        let promise = Promise<Result<Data, any Error>>()
        ProviderForms.$depth.withValue(depth + 1) { data { promise.fulfil($0) } }
        return try await promise.value.get()
    }

    /// The bytes; the same as ``data()``.
    public var data: Data { get async throws { try await data() } }

    /// The bytes, through the async form, in a task of its own.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        Task {
            do { handler(.success(try await data())) } catch { handler(.failure(error)) }
        }
    }
}

/// How often a provider's form with a handler has been called by the default of the other within one task: more often
/// than providers can be nested, where neither is implemented.
private enum ProviderForms {
    @TaskLocal static var depth = 0
}

/// Reads a local file.
///
/// A file URL given as a resource becomes such a provider too; unlike one that the program makes, it fails where
/// ``KingfisherManager/allowsFileURLs`` is false.
public struct LocalFileImageDataProvider: ImageDataProvider {
    /// The file.
    public let fileURL: URL
    /// The key in the caches.
    public var cacheKey: String
    private let loadingQueue: ExecutionQueue?
    /// Whether the provider was made from a resource, whose URL may come from an untrusted source.
    private(set) var isOfResource = false

    /// The provider that a resource with a file URL becomes.
    init(of resource: any Resource, cacheKey: String) {
        self.init(fileURL: resource.downloadURL, cacheKey: cacheKey)
        isOfResource = true
    }

    /// Creates a provider for one file.
    /// - Parameters:
    ///   - fileURL: The file.
    ///   - cacheKey: The key in the caches; nil makes one from the path.
    ///   - loadingQueue: Where the file is read; nil uses the library's own threads.
    public init(fileURL: URL, cacheKey: String? = nil, loadingQueue: ExecutionQueue? = nil) {
        self.fileURL = fileURL
        self.cacheKey = cacheKey ?? fileURL.localFileCacheKey
        self.loadingQueue = loadingQueue
    }

    /// The file's URL.
    public var contentURL: URL? { fileURL }

    /// The file's bytes.
    public func data() async throws -> Data {
        let fileURL = fileURL
        if let loadingQueue {
            return try await loadingQueue.run(or: .userCode) { Result { try Data(contentsOf: fileURL) } }.get()
        }
        return try await WorkExecutor.userCode.run { () async throws -> Data in try Data(contentsOf: fileURL) }
    }

    /// The file's bytes, read on the loading queue.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        let fileURL = fileURL
        (loadingQueue ?? .dispatch(.global(qos: .userInitiated))).execute {
            handler(Result { try Data(contentsOf: fileURL) })
        }
    }
}

/// Hands out bytes it was given.
public struct RawImageDataProvider: ImageDataProvider {
    /// The bytes.
    public let data: Data
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider for bytes at hand.
    public init(data: Data, cacheKey: String) {
        self.data = data
        self.cacheKey = cacheKey
    }

    /// The bytes, at once.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) { handler(.success(data)) }
}

/// Decodes bytes from Base64 text.
public struct Base64ImageDataProvider: ImageDataProvider {
    /// The text.
    public let base64String: String
    /// The key in the caches.
    public var cacheKey: String

    /// Creates a provider for Base64 text.
    /// - Parameters:
    ///   - base64String: The text; line breaks and other characters outside the alphabet are an error.
    ///   - cacheKey: The key in the caches.
    public init(base64String: String, cacheKey: String) {
        self.base64String = base64String
        self.cacheKey = cacheKey
    }

    /// The decoded bytes, or an error when the text is not Base64, at once.
    public func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        guard let data = Data(base64Encoded: base64String) else {
            return handler(.failure(MalformedBase64(cacheKey: cacheKey)))
        }
        handler(.success(data))
    }

    /// The text of a ``Base64ImageDataProvider`` was not Base64.
    public struct MalformedBase64: Error, CustomStringConvertible {
        /// The provider's key.
        public let cacheKey: String
        /// The error in words.
        public var description: String { "the text for \(Redaction.source(cacheKey)) is not valid Base64" }
    }
}
