// The keys by which loads share what is made of the same bytes. For LoadedBytes and the manager.

import Foundation
import KFImaging
import KFSupport

/// The key by which loads are given one image of the same bytes.
struct ProcessingKey: Hashable {
    private let processor: String
    private let creating: ImageCreatingOptions
    private let frames: AnimatedProcessingPolicy
    private let queue: CallbackQueue.Identity?

    init(_ options: KingfisherParsedOptionsInfo) {
        processor = options.processor.identifier
        creating = options.imageCreatingOptions
        frames = options.animatedProcessing
        queue = options.processingQueue?.identity
    }
}

/// The key by which loads share one cache entry made of the same image.
struct StoreKey: Hashable, Sendable {
    /// The key with the identifier of the processor.
    let key: String
    private let cache: ObjectIdentifier?
    private let serializer: ComparableCode
    private let isMemoryOnly: Bool
    private let keepsOriginal: Bool
    private let originalCache: ObjectIdentifier?
    private let memoryExpiration: StorageExpiration?
    private let diskExpiration: StorageExpiration?
    private let writing: UInt
    private let fileExtension: String?

    init(_ query: CacheCore.Query) {
        let options = query.options
        key = query.computedKey
        cache = options.targetCache.map { ObjectIdentifier($0) }
        serializer = ComparableCode(options.cacheSerializer)
        isMemoryOnly = options.cacheMemoryOnly
        keepsOriginal = options.cacheOriginalImage
        originalCache = options.originalCache.map { ObjectIdentifier($0) }
        memoryExpiration = options.memoryCacheExpiration
        diskExpiration = options.diskCacheExpiration
        writing = UInt(options.diskStoreWriteOptions.rawValue)
        fileExtension = options.forcedExtension
    }

    /// Whether it can be compared with others: not with a serializer of the user's that is not `Hashable`, nor with
    /// numbers that are NaN.
    var isComparable: Bool {
        serializer.isComparable && memoryExpiration == memoryExpiration && diskExpiration == diskExpiration
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A piece of code among the options: equal to another one only if both say how to compare them.
struct ComparableCode: Equatable, Sendable {
    private let code: any Sendable

    init(_ code: any Sendable) { self.code = code }

    var isComparable: Bool { code is any Hashable }

    static func == (lhs: Self, rhs: Self) -> Bool {
        guard let one = lhs.code as? any Hashable, let other = rhs.code as? any Hashable else { return false }
        return AnyHashable(one) == AnyHashable(other)
    }
}
