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
        let processor = processor ?? DefaultImageProcessor.default
        let policy = isStill ? AnimatedProcessingPolicy.firstFrame : .transformFrames
        let options = KingfisherParsedOptionsInfo(isStill ? [.onlyLoadFirstFrame] : nil)
        let image = await WorkExecutor.cpu.run { () async -> Image? in
            policy.applied(to: processor).process(item: .data(data), options: options)
        }
        guard let image else {
            throw Failure(.processorError(reason: .processingFailed(processor: processor, item: .data(data))))
        }
        return image
    }
}
