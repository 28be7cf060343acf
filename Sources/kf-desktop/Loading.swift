// The images of the gallery, and the options they are loaded with.

import Foundation
import KFImaging
import Kingfisher

/// An image of the gallery.
struct GalleryImage: Sendable {
    /// The source that is loaded.
    let source: Source
    /// The text below the image.
    let title: String
    /// Whether it is played; its thumbnail is the animation itself.
    let isAnimated: Bool
    /// The image shown until the source is loaded.
    let placeholder: Image?

    init(source: Source, title: String, isAnimated: Bool, placeholder: Image?) {
        (self.source, self.title, self.isAnimated, self.placeholder) = (source, title, isAnimated, placeholder)
    }

    /// The image at a URL, or in a file.
    init(address: String) {
        let url = URL(string: address).flatMap { $0.scheme == nil ? nil : $0 } ?? URL(fileURLWithPath: address)
        source = url.convertToSource()
        title = url.lastPathComponent
        isAnimated = url.pathExtension.lowercased() == "gif"
        placeholder = nil
    }
}

/// The cache and the options of all loads of the window.
@MainActor
final class Loading {
    let cache: ImageCache
    /// Whether nothing is downloaded.
    var isOffline = false

    init(cache: ImageCache) { self.cache = cache }

    /// The options of an image in the grid: decoded no larger than a cell, with the original bytes on disk.
    func thumbnail(of image: GalleryImage, size: CGSize, scale: CGFloat) -> KingfisherOptionsInfo {
        let processor = ThumbnailImageProcessor(size: size, mode: .fill, anchor: .smart)
        let still: KingfisherOptionsInfo = [.processor(processor), .scaleFactor(scale), .cacheOriginalImage]
        return whole() + (image.isAnimated ? [] : still)
    }

    /// The options of an image that is shown alone.
    func whole() -> KingfisherOptionsInfo {
        let common: KingfisherOptionsInfo = [.targetCache(cache), .transition(.fade(0.35))]
        return common + (isOffline ? [.onlyFromCache] : [])
    }
}

extension CacheType {
    /// The origin of an image, in one word.
    var word: String {
        switch self {
        case .none: "network"
        case .memory: "memory"
        case .disk: "disk"
        }
    }
}
