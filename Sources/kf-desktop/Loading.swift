// What is to be shown, and how it is loaded. Knows no widget.

import Foundation
import KFImaging
import Kingfisher

/// A picture of the gallery.
struct Picture: Sendable {
    /// What is loaded.
    let source: Source
    /// What stands under it.
    let title: String
    /// Whether it is to be played; its thumbnail is the animation itself.
    let isAnimated: Bool
    /// What is shown until it is there.
    let placeholder: Image?

    init(source: Source, title: String, isAnimated: Bool, placeholder: Image?) {
        (self.source, self.title, self.isAnimated, self.placeholder) = (source, title, isAnimated, placeholder)
    }

    /// The picture of a URL, or of a file.
    init(address: String) {
        let url = URL(string: address).flatMap { $0.scheme == nil ? nil : $0 } ?? URL(fileURLWithPath: address)
        source = url.convertToSource()
        title = url.lastPathComponent
        isAnimated = url.pathExtension.lowercased() == "gif"
        placeholder = nil
    }
}

/// What all loads of the window have in common.
@MainActor
final class Loading {
    let cache: ImageCache
    /// Whether nothing is downloaded.
    var isOffline = false

    init(cache: ImageCache) { self.cache = cache }

    /// The options of a picture in the grid: decoded no larger than a cell, kept as it was downloaded on disk.
    func thumbnail(of picture: Picture, size: CGSize, scale: CGFloat) -> KingfisherOptionsInfo {
        let processor = ThumbnailImageProcessor(size: size, mode: .fill, anchor: .smart)
        let still: KingfisherOptionsInfo = [.processor(processor), .scaleFactor(scale), .cacheOriginalImage]
        return whole() + (picture.isAnimated ? [] : still)
    }

    /// The options of a picture that is looked at.
    func whole() -> KingfisherOptionsInfo {
        let common: KingfisherOptionsInfo = [.targetCache(cache), .transition(.fade(0.35))]
        return common + (isOffline ? [.onlyFromCache] : [])
    }
}

extension CacheType {
    /// Where an image came from, in one word.
    var word: String {
        switch self {
        case .none: "network"
        case .memory: "memory"
        case .disk: "disk"
        }
    }
}
