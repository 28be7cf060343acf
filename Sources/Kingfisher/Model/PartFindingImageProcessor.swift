// The protocol of processors that look at an image to find the part to keep, such as trimming.

public import KFImaging

/// A processor that looks for a part of the image, and must keep the same part of all frames of an animation. (Not in
/// Kingfisher.)
public protocol PartFindingImageProcessor: ImageProcessor {
    /// The processor for the part that was found.
    ///
    /// - Parameters:
    ///   - frames: The frames that it will process; looking at them decodes them.
    ///   - options: The options of the load.
    /// - Returns: A processor that keeps one part.
    func resolved(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
}

extension ImageProcessor {
    /// The processor that does the same to every frame of an animation: itself, unless it has to find the part first.
    func forAllFrames(
        of frames: any ImageFrameSource,
        _ options: KingfisherParsedOptionsInfo
    ) -> any ImageProcessor {
        (self as? any PartFindingImageProcessor)?.resolved(for: frames, options) ?? self
    }
}
