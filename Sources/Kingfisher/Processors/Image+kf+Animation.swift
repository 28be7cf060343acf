// `image.kf` for animations: how they are made from data, and their properties. The frames are made in KFImaging.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image that some bytes decode to; nil when they cannot be decoded.
    ///
    /// Bytes of an animation (GIF, APNG, animated WebP, AVIF sequences) make an animation, all others a still.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - options: The scale, and how an animation is decoded.
    /// - Returns: The image.
    public static func image(data: Data, options: ImageCreatingOptions) -> KFCrossPlatformImage? {
        .decoded(from: data, options: options)
    }

    /// The animation that some bytes decode to, or a still if they hold one; nil when they cannot be decoded.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - options: The scale, and how the animation is decoded.
    /// - Returns: The image.
    public static func animatedImage(data: Data, options: ImageCreatingOptions) -> KFCrossPlatformImage? {
        .decoded(from: data, options: options)
    }

    /// The animation that frames make; nil when the first one cannot be decoded.
    ///
    /// Unless the options say otherwise, frames are decoded when they are shown. With
    /// `ImageCreatingOptions/preloadAll` they are decoded now, those that cannot be are left out, and an animation with
    /// more than `ImageDecodingLimits/maxAnimationPixelCount` pixels is decoded on demand nevertheless.
    ///
    /// - Parameters:
    ///   - source: The frames.
    ///   - options: The scale, and which frames are decoded now.
    ///   - baseImage: The image that stands for an animation decoded on demand; nil means its first frame.
    /// - Returns: The image.
    public static func animatedImage(
        source: any ImageFrameSource,
        options: ImageCreatingOptions,
        baseImage: KFCrossPlatformImage? = nil
    ) -> KFCrossPlatformImage? {
        .animated(source, options: options, baseImage: baseImage)
    }

    /// The number of frames in the data that the image was made from, even if only one was decoded; nil for stills.
    public var imageFrameCount: Int? {
        get { base.frameCount }
        nonmutating set { base.frameCount = newValue }
    }

    /// The frames that are decoded when they are shown; nil for stills, preloaded animations and first frames.
    public var frameSource: (any ImageFrameSource)? { base.frameSource }

    /// The same as ``frameSource``.
    public var imageSource: (any ImageFrameSource)? { base.frameSource }

    /// Copies the state of this image's animation to another image: bytes, number of frames, frames on demand, and how
    /// it was made.
    ///
    /// Frames that are decoded already stay with this image.
    ///
    /// - Parameter image: The other image.
    public func copyKingfisherState(to image: KFCrossPlatformImage) { base.copyAnimation(to: image) }

    /// The image with its pixels ready to be shown, which on Linux they always are; animations are not changed.
    public var decoded: KFCrossPlatformImage { decoded(scale: base.scale) }

    /// The image with its pixels ready to be shown, with another scale; animations are not changed.
    ///
    /// - Parameter scale: Pixels a point; the pixels themselves do not change.
    /// - Returns: The image.
    public func decoded(scale: CGFloat) -> KFCrossPlatformImage { base.decoded(scale: scale) }

    /// Draws the image with a Cairo context over the content of its surface, and returns the surface as an image.
    ///
    /// - Parameter context: A `cairo_t *` over an image surface of 32 bits a pixel, which no other thread uses during
    ///   the call.
    /// - Returns: The whole surface, with this image's scale and orientation; the image itself when it is animated or
    ///   empty, or the context cannot be drawn with.
    public func decoded(on context: OpaquePointer) -> KFCrossPlatformImage { base.drawn(on: context) }

    /// The GIF bytes the image was made from; nil when it was made from something else.
    public func gifRepresentation() -> Data? {
        base.animatedData.flatMap { ImageFormat(sniffing: $0) == .GIF ? $0 : nil }
    }

    /// The image in a format.
    ///
    /// - Parameters:
    ///   - format: The format; an unknown one means PNG.
    ///   - compressionQuality: From 0 to 1, for JPEG.
    /// - Returns: The bytes of a file; nil for the empty image, and for GIF when the image was not made from one.
    public func data(format: ImageFormat, compressionQuality: CGFloat = 1) -> Data? {
        switch format {
        case .PNG, .unknown: pngRepresentation()
        case .JPEG: jpegRepresentation(compressionQuality: compressionQuality)
        case .GIF: gifRepresentation()
        }
    }

    /// Pixels as an image with the orientation of another one.
    static func image(cgImage: CGImage, scale: CGFloat, refImage: KFCrossPlatformImage?) -> KFCrossPlatformImage {
        Image(cgImage: cgImage, scale: scale, orientation: refImage?.imageOrientation ?? .up)
    }

    /// The bytes of the animation that the image was made from.
    var animatedImageData: Data? { base.animatedData }

    /// How the image was made of its data.
    var imageCreatingOptions: ImageCreatingOptions? { base.creatingOptions }

    var images: [KFCrossPlatformImage]? { base.images }
    var duration: TimeInterval { base.duration }
    var scale: CGFloat { base.scale }
    var size: CGSize { base.size }
    var cgImage: CGImage? { base.cgImage }
    /// The memory that the pixels take, in bytes.
    var cost: Int { base.cost }
}
