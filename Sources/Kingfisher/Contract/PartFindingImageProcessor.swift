// Processors that look at a picture before they know what to keep of it. Knows none of them.

import KFImaging

/// A processor that looks for a part of the picture, and must keep the same part of all frames of an animation.
protocol PartFindingImageProcessor: ImageProcessor {
    /// The processor for the part that was found.
    ///
    /// - Parameters:
    ///   - frames: The frames it is going to get; looking at them decodes them.
    ///   - options: The options of the load.
    /// - Returns: A processor that keeps one part.
    func settled(for frames: any ImageFrameSource, _ options: KingfisherParsedOptionsInfo) -> any ImageProcessor
}

extension ImageProcessor {
    /// What does the same to every frame of an animation: itself, unless it has to find the part first.
    func forAllFrames(
        of frames: any ImageFrameSource,
        _ options: KingfisherParsedOptionsInfo
    ) -> any ImageProcessor {
        (self as? any PartFindingImageProcessor)?.settled(for: frames, options) ?? self
    }
}
