// The images of the gallery, and the options they are loaded with.

#if canImport(CKFGTK4)
import Foundation
import Kingfisher

/// An image of the gallery.
struct GalleryImage: Sendable {
    /// The source that is loaded.
    let source: Source
    /// The text below the image.
    let title: String
    /// The image shown until the source is loaded.
    let placeholder: KFCrossPlatformImage?

    init(source: Source, title: String, placeholder: KFCrossPlatformImage? = nil) {
        (self.source, self.title, self.placeholder) = (source, title, placeholder)
    }
}

/// The cache and the options of all loads of the window.
@MainActor
final class Loading {
    let cache: ImageCache
    /// Whether nothing is downloaded.
    var isOffline = false

    init(cache: ImageCache) { self.cache = cache }

    /// The options of the images in the grid: decoded for their cells, with the original bytes on disk.
    func thumbnails() -> KingfisherOptionsInfo { whole() + [.sizedToView] }

    /// The options of an image that is shown alone.
    func whole() -> KingfisherOptionsInfo {
        let common: KingfisherOptionsInfo = [.targetCache(cache), .transition(.fade(0.35))]
        return common + (isOffline ? [.onlyFromCache] : [])
    }
}

extension RetrieveImageResult {
    /// Where the image came from, in one word.
    var origin: String {
        switch cacheType {
        case .none: source.url?.isFileURL == true ? "file" : "network"
        case .memory: "memory"
        case .disk: "disk"
        }
    }
}
#endif
