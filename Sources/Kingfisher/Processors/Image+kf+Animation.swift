// `image.kf` for animations: how they are made of data, and what is known of them. The frames are KFImaging's business.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image some bytes make; nil when they cannot be decoded.
    ///
    /// Bytes of an animation (GIF, APNG, animated WebP, AVIF sequences) make an animation, all others a still.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - options: The scale, and what is wanted of an animation.
    /// - Returns: The image.
    public static func image(data: Data, options: ImageCreatingOptions) -> KFCrossPlatformImage? {
        .decoded(from: data, options: options)
    }

    /// The animation some bytes make, a still when they hold no more; nil when they cannot be decoded.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - options: The scale, and what is wanted of the animation.
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
    ///   - baseImage: What stands for an animation that is decoded on demand; nil means its first frame.
    /// - Returns: The image.
    public static func animatedImage(
        source: any ImageFrameSource,
        options: ImageCreatingOptions,
        baseImage: KFCrossPlatformImage? = nil
    ) -> KFCrossPlatformImage? {
        .animated(source, options: options, baseImage: baseImage)
    }

    /// How many frames the data has that the image was made from, even if one only was decoded; nil for stills.
    public var imageFrameCount: Int? {
        get { base.frameCount }
        nonmutating set { base.frameCount = newValue }
    }

    /// The frames that are decoded when they are shown; nil for stills, preloaded animations and first frames.
    public var frameSource: (any ImageFrameSource)? { base.frameSource }

    /// The same as ``frameSource``.
    public var imageSource: (any ImageFrameSource)? { base.frameSource }

    /// Copies to another image what this one knows of its animation: bytes, number of frames, frames on demand, and how
    /// it was made.
    ///
    /// Frames that are decoded already stay with this image.
    ///
    /// - Parameter image: The other image.
    public func copyKingfisherState(to image: KFCrossPlatformImage) { base.copyAnimation(to: image) }

    /// The image with its pixels ready to be shown, which on Linux they always are; animations stay what they are.
    public var decoded: KFCrossPlatformImage { decoded(scale: base.scale) }

    /// The image with its pixels ready to be shown, under another scale; animations stay what they are.
    ///
    /// - Parameter scale: Pixels a point; the pixels themselves do not change.
    /// - Returns: The image.
    public func decoded(scale: CGFloat) -> KFCrossPlatformImage { base.decoded(scale: scale) }

    /// The image drawn with a Cairo context over what its surface holds, and that surface as an image.
    ///
    /// - Parameter context: A `cairo_t *` over an image surface of 32 bits a pixel, which no other thread uses
    ///   meanwhile.
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
    /// What the pixels take in memory, in bytes.
    var cost: Int { base.cost }
}
