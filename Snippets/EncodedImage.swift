// The bytes that a server sends.
import Foundation
import Kingfisher

/// A thumbnail as WebP, with its media type.
func thumbnail(of url: URL) async throws -> EncodedImage {
    let processor = ThumbnailImageProcessor(size: CGSize(width: 300, height: 200), mode: .fill)
    return try await KingfisherManager.shared.retrieveEncoded(
        with: url,
        options: [.processor(processor), .respectCacheControl],
        as: ImageEncoding(.webp, quality: 0.8)
    )
}
