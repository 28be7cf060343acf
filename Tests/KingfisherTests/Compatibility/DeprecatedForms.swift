// The forms from before version 5, called through protocols so that their deprecation gives no warning.

import Foundation
import Kingfisher

protocol DeprecatedForms {
    @discardableResult
    func retrieveImage(
        with resource: any Resource,
        options: KingfisherOptionsInfo?,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?
    ) -> RetrieveImageTask

    @discardableResult
    func downloadAndCacheImage(
        with url: URL,
        forKey key: String,
        retrieveImageTask: RetrieveImageTask,
        progressBlock: DownloadProgressBlock?,
        completionHandler: CompletionHandler?,
        options: KingfisherOptionsInfo
    ) -> RetrieveImageDownloadTask?
}

extension KingfisherManager: DeprecatedForms {}

extension KingfisherManager {
    /// The manager, with its forms from before version 5.
    var deprecatedForms: any DeprecatedForms { self }
}

protocol DeprecatedCacheForms {
    func store(
        _ image: KFCrossPlatformImage,
        original: Data?,
        forKey key: String,
        processorIdentifier identifier: String,
        cacheSerializer serializer: any CacheSerializer,
        toDisk: Bool,
        completionHandler: (@Sendable () -> Void)?
    )

    @discardableResult
    func retrieveImage(
        forKey key: String,
        options: KingfisherOptionsInfo?,
        completionHandler: (@Sendable (KFCrossPlatformImage?, CacheType) -> Void)?
    ) -> RetrieveImageDiskTask?

    func calculateDiskCacheSize(completion handler: @escaping @Sendable (_ size: UInt) -> Void)
}

extension ImageCache: DeprecatedCacheForms {}

extension ImageCache {
    /// The cache, with its forms from before version 5.
    var deprecatedForms: any DeprecatedCacheForms { self }
}
