// Decodes the bytes of a file and processes the image, without any cache; for `kf process`, `kf show` and `kf hash`.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Decodes and processes images for the commands without a cache.
enum ImageBytes {
    /// Decodes and processes one image.
    ///
    /// - Parameters:
    ///   - data: The bytes of a file.
    ///   - processor: The processor; nil changes nothing.
    ///   - isStill: Whether only the first frame of an animation is used; otherwise every frame is processed when it is
    ///     asked for.
    /// - Returns: The image.
    /// - Throws: Why there is none.
    static func image(
        _ data: Data,
        _ processor: (any ImageProcessor)?,
        isStill: Bool
    ) async throws(Failure) -> Image {
        try await image(.data(data), processor ?? DefaultImageProcessor.default, isStill: isStill)
    }

    /// A smaller copy of an image, or of all frames of an animation.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - width: The width of the copy, in pixels.
    /// - Returns: The copy.
    /// - Throws: Why there is none.
    static func image(_ image: Image, width: Int) async throws(Failure) -> Image {
        try await self.image(
            .image(image),
            ThumbnailImageProcessor(size: CGSize(width: width, height: 0)),
            isStill: false
        )
    }

    private static func image(
        _ item: ImageProcessItem,
        _ processor: any ImageProcessor,
        isStill: Bool
    ) async throws(Failure) -> Image {
        let policy = isStill ? AnimatedProcessingPolicy.firstFrame : .transformFrames
        let options = KingfisherParsedOptionsInfo(isStill ? [.onlyLoadFirstFrame] : nil)
        let image = await WorkExecutor.cpu.run { () async -> Image? in
            policy.applied(to: processor).process(item: item, options: options)
        }
        guard let image else {
            throw Failure(.processorError(reason: .processingFailed(processor: processor, item: item)))
        }
        return image
    }
}
