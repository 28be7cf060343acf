// A result with where it came from. For the routes and their answers, for metrics and the log.

import Kingfisher

/// A result, and how it was come by.
struct ServedImage {
    let image: RenderedImage
    let origin: ImageOrigin
    /// Why this is the fallback; nil if it is not.
    var error: RenderingError?

    /// Whether it is an image that was asked for before, and not long ago.
    var isHot: Bool { origin == .memory && error == nil }
}

/// Where a result came from, for metrics and the log.
enum ImageOrigin: String {
    case memory, disk, made
    /// Made, for another request that came before.
    case shared

    static func cache(of image: RenderedImage) -> Self {
        switch image.image.cacheType {
        case .memory: .memory
        case .disk: .disk
        case .none: .made
        }
    }
}
