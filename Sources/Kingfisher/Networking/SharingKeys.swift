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
    private let code: UserCode

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
        code = UserCode(
            redirectHandler: conditions.redirectHandler,
            responseModifier: conditions.responseModifier,
            decryptor: conditions.decryptor,
            dataModifier: conditions.dataModifier
        )
    }

    /// Whether a later download may have an equal key: not with code that cannot be compared.
    var mayRecur: Bool { code.mayRecur }

    /// Requests for one URL are few; hashing all their fields would take longer than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}

/// The code of users that changes what is sent and what comes back.
struct UserCode: Hashable, Sendable {
    private let requestModifier, redirectHandler, responseModifier, decryptor, dataModifier: CodeKey

    init(
        requestModifier: (any Sendable)? = nil,
        redirectHandler: (any Sendable)?,
        responseModifier: (any Sendable)?,
        decryptor: (any Sendable)?,
        dataModifier: (any Sendable)?
    ) {
        self.requestModifier = CodeKey(requestModifier)
        self.redirectHandler = CodeKey(redirectHandler)
        self.responseModifier = CodeKey(responseModifier)
        self.decryptor = CodeKey(decryptor)
        self.dataModifier = CodeKey(dataModifier)
    }

    /// Whether code that is given later can be equal.
    var mayRecur: Bool {
        requestModifier.mayRecur && redirectHandler.mayRecur && responseModifier.mayRecur && decryptor.mayRecur
            && dataModifier.mayRecur
    }
}

/// What an image is made by: loads with an equal one are given one image of the same bytes.
struct ImageIdentity: Hashable, Sendable {
    private let processor: String
    private let creating: ImageCreatingOptions
    private let frames: AnimatedProcessingPolicy
    private let vectors: VectorProcessingPolicy
    private let queue: CallbackQueue.Identity?

    init(_ options: KingfisherParsedOptionsInfo, ignoringPreloading: Bool = false) {
        var creating = options.imageCreatingOptions
        if ignoringPreloading { creating.preloadAll = false }
        self.creating = creating
        processor = options.processor.identifier
        frames = options.animatedProcessing
        vectors = options.vectorProcessing
        queue = options.processingQueue?.identity
    }
}

/// What is stored: loads with an equal one share one cache entry made of the same image.
struct EntryIdentity: Hashable, Sendable {
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

    /// Made once: most loads have it.
    private static let defaultSerializer = CodeKey(DefaultCacheSerializer.default)

    init(_ computedKey: String, _ options: KingfisherParsedOptionsInfo) {
        key = computedKey
        cache = options.targetCache.map { ObjectIdentifier($0) }
        let isDefault = options.cacheSerializer as? DefaultCacheSerializer == .default
        serializer = isDefault ? Self.defaultSerializer : CodeKey(options.cacheSerializer)
        layers = options.layersToStore
        originalLayers = options.layersToStoreForOriginal
        originalCache = options.cacheForOriginals.map { ObjectIdentifier($0) }
        keepsDamaged = options.cacheDamagedImages
        memoryExpiration = options.memoryCacheExpiration
        diskExpiration = options.diskCacheExpiration
        writing = UInt(options.diskStoreWriteOptions.rawValue)
        fileExtension = options.forcedExtension
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
