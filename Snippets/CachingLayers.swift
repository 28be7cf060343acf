//! Thumbnails in memory, originals on disk in a cache of their own.
import Foundation
import Kingfisher

let originals = ImageCache(name: "originals")

func thumbnail(_ url: URL) async throws -> KFCrossPlatformImage {
    try await KingfisherManager.shared.retrieveImage(
        with: url,
        options: [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 200, height: 200))),
            .storeCacheLayers(.memory),
            .originalCache(originals),
            .originalStoreCacheLayers(.disk),
        ]
    ).image
}
