// What an image is as an animation: frames that are there, or frames to come. Knows no format.

public import Foundation

/// Frames that are decoded already.
package struct PreloadedFrames: Sendable, Equatable {
    package var images: [Image]
    /// How long each frame is shown, in seconds.
    package var delays: [TimeInterval]
    /// How long all of them take once, in seconds.
    package var duration: TimeInterval
    /// How often they are to be played; 0 means for ever.
    package var loopCount: UInt = 0
}

extension Image {
    /// The frames of a preloaded animation; nil for stills, and for animations whose frames are decoded on demand.
    public var images: [Image]? { facts.preloaded?.images }

    /// How long a preloaded animation takes once, in seconds; infinite when it has a single frame, 0 for all other images.
    public var duration: TimeInterval { facts.preloaded?.duration ?? 0 }

    /// How long each frame of a preloaded animation is shown, in seconds; nil for all other images.
    public var frameDurations: [TimeInterval]? { facts.preloaded?.delays }

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
    package var animatedData: Data? { facts.animatedData }

    /// The frames that are decoded on demand; nil for stills and preloaded animations.
    package var frameSource: (any ImageFrameSource)? { facts.frameSource }

    /// How the image was made of its data.
    package var creatingOptions: ImageCreatingOptions? { facts.creatingOptions }

    /// Whether there is more than the picture itself: frames, decoded or not.
    package var isAnimated: Bool {
        let facts = facts
        return facts.frameSource != nil || facts.preloaded != nil
    }

    /// What equality asks of an animation.
    struct AnimationState: Equatable {
        let frameCount: Int?
        let preloaded: PreloadedFrames?
        let isLazy: Bool
        let options: ImageCreatingOptions?
    }

    var animation: AnimationState {
        let facts = facts
        return AnimationState(
            frameCount: facts.frameCount,
            preloaded: facts.preloaded,
            isLazy: facts.frameSource != nil,
            options: facts.creatingOptions
        )
    }

    /// What the pixels take in memory, in bytes: those of all frames that are there, of others one.
    package var cost: Int {
        let frames = facts.preloaded.map { Set($0.images.map { ObjectIdentifier($0) }).count }
        return pixelWidth * pixelHeight * 4 * (frames ?? 1)
    }

    /// Copies what is known of the animation, except frames that are decoded already.
    package func copyAnimation(to other: Image) {
        let facts = facts
        other.note {
            $0.animatedData = facts.animatedData
            $0.frameCount = facts.frameCount
            $0.frameSource = facts.frameSource
            $0.creatingOptions = facts.creatingOptions
        }
    }

    /// The same pixels under another scale, and the same frames; the same object when nothing changes.
    package func relabelled(scale: CGFloat) -> Image {
        let scale = Self.sensibleScale(scale)
        guard scale != self.scale else { return self }
        var metadata = facts
        metadata.creatingOptions?.scale = scale
        if let frames = metadata.preloaded {
            metadata.preloaded?.images = frames.images.map { $0.relabelled(scale: scale) }
        }
        return Image(cgImage: cgImage, scale: scale, orientation: imageOrientation, metadata: metadata)
    }

    /// The same picture, its pixels ready to be shown, under a scale; animations and the empty image stay what they are.
    package func decoded(scale: CGFloat) -> Image {
        isAnimated || cgImage == nil ? self : relabelled(scale: scale)
    }
}
