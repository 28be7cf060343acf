// The animation of an image: frames that are decoded, or frames decoded on demand.

public import Foundation

/// Frames that are decoded already.
package struct PreloadedFrames: Sendable, Equatable {
    package var images: [Image]
    /// How long each frame is shown, in seconds.
    package var delays: [TimeInterval]
    /// How long all of them take once, in seconds.
    package var duration: TimeInterval
    /// How often they are to be played; 0 means endlessly.
    package var loopCount: UInt = 0
}

extension Image {
    /// The frames of a preloaded animation; nil for stills, and for animations whose frames are decoded on demand.
    public var images: [Image]? { metadata.preloaded?.images }

    /// How long a preloaded animation takes once, in seconds; infinite when it has a single frame, 0 for all other
    /// images.
    public var duration: TimeInterval { metadata.preloaded?.duration ?? 0 }

    /// How long each frame of a preloaded animation is shown, in seconds; nil for all other images.
    public var frameDurations: [TimeInterval]? { metadata.preloaded?.delays }

    /// An animation of images that are shown equally long.
    ///
    /// Size, scale and bitmap are those of the first one.
    ///
    /// - Parameters:
    ///   - images: The frames.
    ///   - duration: How long all of them take once, in seconds.
    /// - Returns: The animation; nil when there is no frame.
    public static func animatedImage(with images: [Image], duration: TimeInterval) -> Image? {
        guard !images.isEmpty else { return nil }
        let delay = duration / TimeInterval(images.count)
        let delays = [TimeInterval](repeating: delay, count: images.count)
        return Image(preloaded: PreloadedFrames(images: images, delays: delays, duration: duration))
    }

    /// An animation of frames that are there; nil when none is.
    package convenience init?(preloaded: PreloadedFrames) {
        guard let first = preloaded.images.first else { return nil }
        var metadata = Metadata(contentType: first.contentType, frameCount: preloaded.images.count)
        metadata.preloaded = preloaded
        self.init(
            cgImage: first.cgImage,
            scale: first.scale,
            orientation: first.imageOrientation,
            metadata: metadata
        )
    }
}

extension Image {
    /// The encoded bytes of the animation the image was made from.
    package var animatedData: Data? { metadata.animatedData }

    /// The frames that are decoded on demand; nil for stills and preloaded animations.
    package var frameSource: (any ImageFrameSource)? { metadata.frameSource }

    /// How the image was made of its data.
    package var creatingOptions: ImageCreatingOptions? { metadata.creatingOptions }

    /// Whether the image is an animation, its frames decoded or not.
    package var isAnimated: Bool {
        let metadata = metadata
        return metadata.frameSource != nil || metadata.preloaded != nil
    }

    /// The parts of an animation that equality compares.
    struct AnimationState: Equatable {
        let frameCount: Int?
        let preloaded: PreloadedFrames?
        let isLazy: Bool
        let options: ImageCreatingOptions?
    }

    var animation: AnimationState {
        let metadata = metadata
        return AnimationState(
            frameCount: metadata.frameCount,
            preloaded: metadata.preloaded,
            isLazy: metadata.frameSource != nil,
            options: metadata.creatingOptions
        )
    }

    /// The memory that the image takes, in bytes: the pixels of all frames that are decoded, else of one image; for one
    /// without pixels, its file.
    package var cost: Int {
        let frames = metadata.preloaded.map { Set($0.images.map { ObjectIdentifier($0) }).count }
        return pixelWidth * pixelHeight * 4 * (frames ?? 1) + (metadata.encoded?.data.count ?? 0)
    }

    /// Copies the metadata of the animation, except frames that are decoded already.
    package func copyAnimation(to other: Image) {
        let metadata = metadata
        other.updateMetadata {
            $0.animatedData = metadata.animatedData
            $0.frameCount = metadata.frameCount
            $0.frameSource = metadata.frameSource
            $0.creatingOptions = metadata.creatingOptions
        }
    }

    /// The same pixels under another scale, and the same frames; the same object when nothing changes.
    package func withScale(_ scale: CGFloat) -> Image {
        let scale = Self.validScale(scale)
        guard scale != self.scale else { return self }
        var metadata = metadata
        metadata.creatingOptions?.scale = scale
        if let frames = metadata.preloaded {
            metadata.preloaded?.images = frames.images.map { $0.withScale(scale) }
        }
        return Image(cgImage: cgImage, scale: scale, orientation: imageOrientation, metadata: metadata)
    }

    /// The same image, its pixels ready to be shown, under a scale; animations and the empty image are returned
    /// unchanged.
    package func decoded(scale: CGFloat) -> Image {
        isAnimated || cgImage == nil ? self : withScale(scale)
    }
}
