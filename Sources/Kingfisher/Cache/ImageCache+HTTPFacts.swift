// How what a server said is kept with an entry. Knows nothing of what it means.

package import Foundation
import KFStorage
import KFSupport

extension ImageCache {
    /// What the server said about the bytes an image on disk was made from. (Not in Kingfisher.)
    ///
    /// It stays with the entry as long as that does, also when its time is over, and goes with it.
    ///
    /// - Parameters:
    ///   - key: The key of the image.
    ///   - identifier: The identifier of the processor that made it.
    ///   - forcedExtension: The extension of the file, instead of the configured one.
    /// - Returns: The facts; nil if there is no entry, or nothing was kept with it.
    /// - Throws: ``KingfisherError``, a cache error, when there is something that cannot be read.
    public func httpFacts(
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil
    ) async throws(KingfisherError) -> HTTPFacts? {
        let computedKey = key.computedKey(with: identifier)
        let bytes = await order.place(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                try disk.attachment(forKey: computedKey, forcedExtension: forcedExtension)
            }
        }
        return try bytes.get().flatMap { HTTPFacts(encoded: $0) }
    }

    /// Replaces what is kept with an entry, for instance after the server has confirmed it. (Not in Kingfisher.)
    ///
    /// Nothing is done to the image, nor to the time it stays cached.
    ///
    /// - Parameters:
    ///   - facts: What holds from now on; nil to keep nothing.
    ///   - old: When given, what has to be kept with the entry for anything to happen. Who has asked a server whether an
    ///     entry is still good names what was asked about: the entry may have been replaced meanwhile.
    ///   - key: The key of the image.
    ///   - identifier: The identifier of the processor that made it.
    ///   - forcedExtension: The extension of the file, instead of the configured one.
    /// - Returns: Whether it is kept now: false if there is no entry, or not that of `old`, or the file system has no room
    ///   for it.
    /// - Throws: ``KingfisherError``, a cache error, when the entry cannot be changed.
    @discardableResult
    public func updateHTTPFacts(
        _ facts: HTTPFacts?,
        replacing old: HTTPFacts? = nil,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil
    ) async throws(KingfisherError) -> Bool {
        let computedKey = key.computedKey(with: identifier)
        let bytes = facts?.encoded()
        let isMeant = old.map { old in
            { @Sendable (kept: [UInt8]?) -> Bool in
                // What is long is not kept whole.
                let (now, asked) = (kept.flatMap { HTTPFacts(encoded: $0) }, HTTPFacts(encoded: old.encoded()))
                return now != nil && now == asked
            }
        }
        let updating = await order.place(forKey: computedKey).run { [self] in
            await onDisk { disk throws(KingfisherError) in
                try disk.setAttachment(
                    bytes,
                    forKey: computedKey,
                    forcedExtension: forcedExtension,
                    where: isMeant
                )
            }
        }
        return try updating.get()
    }

    // MARK: Storing with facts

    /// What is to be kept with the entries that are being stored by the code that runs now.
    ///
    /// Storing is for subclasses to override, with the parameters it always had: the facts go past those, not through.
    @TaskLocal static var factsToKeep: HTTPFacts?

    /// Stores an image as ``store(_:original:forKey:options:toDisk:completionHandler:)`` does, and what the server said
    /// with it.
    package func store(
        _ image: KFCrossPlatformImage,
        original: Data? = nil,
        forKey key: String,
        options: KingfisherParsedOptionsInfo,
        toDisk: Bool = true,
        httpFacts: HTTPFacts?,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)?
    ) {
        Self.$factsToKeep.withValue(httpFacts) {
            store(
                image,
                original: original,
                forKey: key,
                options: options,
                toDisk: toDisk,
                completionHandler: completionHandler
            )
        }
    }

    /// Stores bytes as they are, and what the server said with them.
    package func storeToDisk(
        _ data: Data,
        forKey key: String,
        processorIdentifier identifier: String = "",
        forcedExtension: String? = nil,
        expiration: StorageExpiration? = nil,
        httpFacts: HTTPFacts?,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)?
    ) {
        Self.$factsToKeep.withValue(httpFacts) {
            storeToDisk(
                data,
                forKey: key,
                processorIdentifier: identifier,
                forcedExtension: forcedExtension,
                expiration: expiration,
                callbackQueue: callbackQueue,
                completionHandler: completionHandler
            )
        }
    }
}

// MARK: - The disk part

extension DiskStorage.Backend {
    /// What is kept with the entry of a key; nil if there is none, or nothing.
    func attachment(forKey key: String, forcedExtension: String?) throws(KingfisherError) -> [UInt8]? {
        let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
        return try translating { () throws(StorageError) in try files.attachment(of: name) }
    }

    /// What is kept with an entry that was read; nil if it has been replaced since, or nothing is.
    func attachment(of entry: FileStore.Entry) throws(KingfisherError) -> [UInt8]? {
        try translating { () throws(StorageError) in try files.attachment(of: entry.name, ifStill: entry) }
    }

    /// Keeps something with the entry of a key if `isMeant`, when given, agrees to what was kept so far, and answers
    /// whether that worked.
    func setAttachment(
        _ bytes: [UInt8]?,
        forKey key: String,
        forcedExtension: String?,
        where isMeant: (([UInt8]?) -> Bool)?
    ) throws(KingfisherError) -> Bool {
        let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
        return try translating { () throws(StorageError) in
            try files.setAttachment(bytes, of: name, where: isMeant)
        }
    }
}
