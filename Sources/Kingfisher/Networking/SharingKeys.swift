// The keys by which loads share what is made of the same bytes, and code of users in keys. For LoadedBytes and loads.
//
// A load whose parts can all be compared (everything of the library, and `Hashable` code of the user) is shared from
// the disk on. With a request modifier or serializer that cannot be compared, each load goes its own way and still
// shares: the transfer, if the requests turn out equal, and no redirect handler, decryptor or modifier of responses or
// data is among them that cannot be compared; the image, if the bytes and the processing key are the same; the entry,
// if the serializer can be compared.

import Foundation
import KFImaging
import KFSupport

/// The code of users that changes requests, responses and bytes.
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
    private let limits: ImageDecodingLimits?

    init(_ options: KingfisherParsedOptionsInfo, ignoringPreloading: Bool = false) {
        var creating = options.imageCreatingOptions
        if ignoringPreloading { creating.preloadAll = false }
        self.creating = creating
        processor = options.processor.identifier
        frames = options.animatedProcessing
        vectors = options.vectorProcessing
        queue = options.processingQueue?.identity
        limits = options.decodingLimits
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

    init(_ computedKey: String, _ options: KingfisherParsedOptionsInfo, originalLayers: CacheLayers) {
        key = computedKey
        cache = options.targetCache.map { ObjectIdentifier($0) }
        let isDefault = options.cacheSerializer as? DefaultCacheSerializer == .default
        serializer = isDefault ? Self.defaultSerializer : CodeKey(options.cacheSerializer)
        layers = options.layersToStore
        self.originalLayers = originalLayers
        originalCache = options.cacheForOriginals.map { ObjectIdentifier($0) }
        keepsDamaged = options.cacheDamagedImages
        memoryExpiration = options.memoryCacheExpiration
        diskExpiration = options.diskCacheExpiration
        writing = UInt(options.diskStoreWriteOptions.rawValue)
        fileExtension = options.forcedExtension
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// Stands for a piece of code among the options: equal to another one if both are `Hashable` and say so, else only to
/// its copies.
///
/// The code's own `==` and `hash` run when this is made, and never when keys are compared.
struct CodeKey: Hashable, Sendable {
    /// Nil where there is no code.
    private let entry: CodeTable.Entry?

    init(_ code: (any Sendable)?) { entry = code.map { CodeTable.shared.entry(of: $0) } }

    /// Whether a key that is made later can be equal.
    var mayRecur: Bool { entry?.isComparable ?? true }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.entry === rhs.entry }
    func hash(into hasher: inout Hasher) { hasher.combine(entry.map { ObjectIdentifier($0) }) }
}

/// The pieces of code that keys stand for: of those that are equal one, for as long as there is a key.
private final class CodeTable: Sendable {
    final class Entry: Sendable {
        let code: any Sendable
        /// The hash of code that can be compared.
        let hash: Int?

        init(_ code: any Sendable, hash: Int?) { (self.code, self.hash) = (code, hash) }
        deinit { if let hash { CodeTable.shared.remove(ObjectIdentifier(self), hash) } }

        var isComparable: Bool { hash != nil }
    }

    private struct WeakEntry: Sendable {
        weak let entry: Entry?
        let id: ObjectIdentifier
    }

    static let shared = CodeTable()
    private let entries = Locked<[Int: [WeakEntry]]>([:])

    /// The entry of code that equals the given one; a new one if there is none.
    func entry(of code: any Sendable) -> Entry {
        guard let comparable = code as? any Hashable else { return Entry(code, hash: nil) }
        let (wanted, hash) = (AnyHashable(comparable), comparable.hashValue)
        var known = entries(of: hash)
        while true {
            let equal = known.first { ($0.code as? any Hashable).map { AnyHashable($0) } == wanted }
            if let equal { return equal }
            let new = Entry(code, hash: hash)
            let others = known
            // Code that has come since is to be compared, too.
            // (What is there is returned, so that nothing is released with the lock held.)
            let (current, isNew) = entries.withLock { entries in
                let current = (entries[hash] ?? []).compactMap(\.entry)
                let isNew = current.allSatisfy { entry in others.contains { $0 === entry } }
                if isNew { entries[hash, default: []].append(WeakEntry(entry: new, id: ObjectIdentifier(new))) }
                return (current, isNew)
            }
            if isNew { return new }
            known = current
        }
    }

    private func entries(of hash: Int) -> [Entry] { entries.withLock { ($0[hash] ?? []).compactMap(\.entry) } }

    private func remove(_ id: ObjectIdentifier, _ hash: Int) {
        entries.withLock { entries in
            entries[hash]?.removeAll { $0.id == id }
            if entries[hash]?.isEmpty == true { entries[hash] = nil }
        }
    }
}
