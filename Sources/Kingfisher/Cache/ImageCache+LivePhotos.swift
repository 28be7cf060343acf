// Where the files of live photos are in the cache. Knows nothing of how they came there.

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
        for fileExtension in referenceFileType.possibleExtensions {
            let url = cacheFileURLIfOnDisk(
                forKey: key,
                processorIdentifier: identifier,
                forcedExtension: fileExtension
            )
            if let url { return url }
        }
        return nil
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
