// The keys by which loads share transfers and what is made of the same bytes. For ByteLoader, LoadedBytes, the manager.

import Foundation
import KFImaging
import KFSupport
import KFTransport

/// The key by which downloads share a transfer: all that is sent, and the conditions under which it may fail.
struct TransferKey: Hashable, Sendable {
    /// The URL of the request.
    let url: URL?
    private let method: String
    private let fields: [String: String]
    private let body: Data?
    private let policy: TransportPolicy
    private let acceptableStatusCodes: Set<Int>?
    private let acceptableContentTypes: Set<String>?
    /// What changes redirects, responses and bytes.
    private let code: [CodeKey]

    init(_ conditions: Transfer.Conditions) {
        let request = conditions.request
        url = request.url
        method = request.httpMethod ?? "GET"
        fields = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody
        var policy = conditions.policy
        policy.order = .oldestFirst  // when it goes out is no condition
        self.policy = policy
        acceptableStatusCodes = conditions.acceptableStatusCodes
        acceptableContentTypes = conditions.acceptableContentTypes
        code = [
            CodeKey(conditions.redirectHandler), CodeKey(conditions.responseModifier), CodeKey(conditions.decryptor),
            CodeKey(conditions.dataModifier),
        ]
    }

    /// Whether a later download may have an equal key: not with code that cannot be compared.
    var mayRecur: Bool { code.allSatisfy(\.mayRecur) }

    /// Requests for one URL are few; hashing all their fields would take longer than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}

/// The key by which loads are given one image of the same bytes.
struct ProcessingKey: Hashable {
    private let processor: String
    private let creating: ImageCreatingOptions
    private let frames: AnimatedProcessingPolicy
    private let vectors: VectorProcessingPolicy
    private let queue: CallbackQueue.Identity?

    init(_ options: KingfisherParsedOptionsInfo) {
        processor = options.processor.identifier
        creating = options.imageCreatingOptions
        frames = options.animatedProcessing
        vectors = options.vectorProcessing
        queue = options.processingQueue?.identity
    }
}

/// The key by which loads share one cache entry made of the same image.
struct StoreKey: Hashable, Sendable {
    /// The key with the identifier of the processor.
    let key: String
    private let cache: ObjectIdentifier?
    private let serializer: CodeKey
    private let layers: CacheLayers
    private let originalLayers: CacheLayers
    private let originalCache: ObjectIdentifier?
    private let keepsDamaged: Bool
    private let memoryExpiration: StorageExpiration?
    private let diskExpiration: StorageExpiration?
    private let writing: UInt
    private let fileExtension: String?

    init(_ query: CacheCore.Query) {
        let options = query.options
        key = query.computedKey
        cache = options.targetCache.map { ObjectIdentifier($0) }
        serializer = CodeKey(options.cacheSerializer)
        layers = options.layersToStore
        originalLayers = options.layersToStoreForOriginal
        originalCache = options.originalCache.map { ObjectIdentifier($0) }
        keepsDamaged = options.cacheDamagedImages
        memoryExpiration = options.memoryCacheExpiration
        diskExpiration = options.diskCacheExpiration
        writing = UInt(options.diskStoreWriteOptions.rawValue)
        fileExtension = options.forcedExtension
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
