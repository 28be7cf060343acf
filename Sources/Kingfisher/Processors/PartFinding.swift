// Processors that look for a part of a picture: all frames of an animation keep the same one. The pixels are
// KFImaging's.

import Foundation
import KFImaging

extension TrimmingImageProcessor: PartFindingImageProcessor {
    /// All that is not empty in some frame.
    func settled(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor {
        let parts = (0..<frames.frameCount).lazy.compactMap { index in
            frames.image(at: index, options)?.trimmedRect(tolerance: tolerance)
        }
        return PartImageProcessor(
            part: parts.reduce(nil) { $0?.union($1) ?? $1 },
            identifier: identifier
        )
    }
}

extension SmartCroppingImageProcessor: PartFindingImageProcessor {
    /// What is interesting in the first frame.
    func settled(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor {
        PartImageProcessor(
            part: frames.image(at: 0, options)?.smartCropRect(ofPoints: size),
            identifier: identifier
        )
    }
}

/// Keeps a part that has been found.
private struct PartImageProcessor: ImageProcessor {
    let part: PixelRect?
    let identifier: String

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)?.cropped(to: part)
    }
}

extension ImageFrameSource {
    /// A frame as processors get it.
    fileprivate func image(at index: Int, _ options: KingfisherParsedOptionsInfo) -> Image? {
        frame(at: index).map { Image(cgImage: $0, scale: options.scaleFactor) }
    }
}
