// How the processors that look for a part of an image treat animations: all frames keep the same part. The pixel work
// is in KFImaging.

import Foundation
public import KFImaging

extension TrimmingImageProcessor: PartFindingImageProcessor {
    /// The processor for the smallest part that holds the non-empty parts of all frames.
    public func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
    {
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
    /// The processor for the most interesting part of the first frame.
    public func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
    {
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
