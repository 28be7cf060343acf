// `image.kf` for the formats newer than PNG, JPEG and GIF. The encoders are in KFImaging.

public import Foundation
import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image as WebP, the way it is shown; an animation becomes an animated WebP.
    ///
    /// An animated WebP that has not been changed is returned as its original bytes.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    /// - Returns: The file's bytes; nil for an empty image, and one with a side of more than 16,383 pixels.
    public func webPRepresentation(quality: CGFloat = 0.8, lossless: Bool = false) -> Data? {
        base.encoded(as: .webp, quality: Double(quality), lossless: lossless)
    }

    /// The image as AVIF, the way it is shown; the first frame of an animation.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; ignored when `lossless` is true.
    ///   - lossless: Whether to encode without loss.
    /// - Returns: The file's bytes; nil for an empty image, and where the system's libavif has no encoder.
    public func avifRepresentation(quality: CGFloat = 0.8, lossless: Bool = false) -> Data? {
        base.encoded(as: .avif, quality: Double(quality), lossless: lossless)
    }
}
