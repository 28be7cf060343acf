// From the bytes of a file to a processed picture, past all caches. Knows nothing of where they come from.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Decoding and processing as the commands without a cache do it.
enum PictureBytes {
    /// What is said of a picture of which a part could not be decoded.
    static let damage = "the picture is damaged: a part of it is missing"

    /// Decodes and processes.
    ///
    /// - Parameters:
    ///   - data: The bytes of a file.
    ///   - processor: What is done with the pixels; nil changes nothing.
    ///   - isStill: Whether of an animation only the first frame is wanted; otherwise every frame is processed when it
    ///     is asked for.
    /// - Returns: The picture.
    /// - Throws: Why there is none.
    static func picture(
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
