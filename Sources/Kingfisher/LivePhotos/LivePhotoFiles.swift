// The files of live photos in a cache: finding them, and removing older ones. For the manager.

import Foundation

extension ImageCache {
    /// The file of a live photo if it is on disk; looks at the disk on the caller's thread.
    /// - Parameters:
    ///   - key: The key of the resource.
    ///   - identifier: The identifier of the processor its file is kept for.
    ///   - referenceFileType: The type of the file. When that is not known, it is looked for as any it may have.
    /// - Returns: Where it is; nil without a valid one.
    func possibleCacheFileURLIfOnDisk(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        referenceFileType: LivePhotoResource.FileType
    ) -> URL? {
        referenceFileType.possibleExtensions.lazy.compactMap {
            self.cacheFileURLIfOnDisk(forKey: key, processorIdentifier: identifier, forcedExtension: $0)
        }.first
    }

    /// Removes from disk what was kept of a resource of unknown type under other extensions: it would be found first.
    func removeLivePhotoFile(
        _ resource: LivePhotoResource,
        options: KingfisherParsedOptionsInfo,
        exceptOf type: String?
    ) async throws(KingfisherError) {
        let (key, identifier) = (resource.cacheKey, options.processor.identifier)
        let kept = hash(forKey: key, processorIdentifier: identifier, forcedExtension: type)
        for other in resource.referenceFileType.possibleExtensions {
            // Without an extension of its own a file has the cache's, which may be the same.
            guard hash(forKey: key, processorIdentifier: identifier, forcedExtension: other) != kept else { continue }
            try await removeImage(
                forKey: key,
                processorIdentifier: identifier,
                forcedExtension: other,
                fromMemory: false
            )
        }
    }

    /// The file of a resource if it is on disk; looks at the disk on the caller's thread.
    func possibleCacheFileURLIfOnDisk(
        resource: LivePhotoResource,
        options: KingfisherParsedOptionsInfo
    ) -> URL? {
        possibleCacheFileURLIfOnDisk(
            forKey: resource.cacheKey,
            processorIdentifier: options.processor.identifier,
            referenceFileType: resource.referenceFileType
        )
    }
}
