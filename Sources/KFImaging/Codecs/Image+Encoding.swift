// Images as files of a requested format, whole animations where the format can hold them.

public import Foundation

extension Image {
    /// The image as a file of a format.
    ///
    /// An animation that has not been changed, and that came in this very format, is returned as its original bytes.
    /// Other animations become animated WebP; in the other formats they are their first frame. GIF is never encoded
    /// here, since caches would lose colours by it.
    ///
    /// - Parameters:
    ///   - type: The format.
    ///   - quality: 0…1, for the formats that lose something.
    ///   - lossless: Whether nothing may be lost, for formats that can do both.
    /// - Returns: The bytes of a file; nil when the image cannot be written like that, as an animation whose frames
    ///   differ in size.
    package func encoded(as type: ImageContentType, quality: Double = 1, lossless: Bool = false) -> Data? {
        if let data = animatedData, ImageContentType(sniffing: data) == type,
            type == .gif || (isAnimated && isDecoded(from: data))
        {
            return data
        }
        if type == .gif { return nil }
        if type == .webp, let frames, frames.frameCount > 1 {
            // Rather nil than a still that is taken for the animation.
            return try? Codecs.encode(frames, as: type, quality: quality, lossless: lossless)
        }
        return try? Codecs.encode(self, as: type, quality: quality, lossless: lossless)
    }

    /// The displayed image as PNG; nil for the empty image.
    ///
    /// The file holds every pixel of the bitmap exactly, in the fewest bits: a palette of up to 256 colours, or grey,
    /// of 1, 2, 4 or 8 bits, else red, green and blue; with alpha if any pixel is less than opaque. What the bitmap
    /// itself does not hold, as more than 8 bits or exact colours of nearly transparent pixels (see ``Bitmap``), is not
    /// in the file either.
    ///
    /// - Returns: The encoded bytes.
    public func pngData() -> Data? { try? Codecs.encode(self, as: .png) }

    /// The displayed image as JPEG, transparent parts laid over white; nil for the empty image.
    ///
    /// - Parameter compressionQuality: 0…1; from 0.9 up the colours keep their full resolution.
    /// - Returns: The encoded bytes.
    public func jpegData(compressionQuality: CGFloat) -> Data? {
        try? Codecs.encode(self, as: .jpeg, quality: Double(compressionQuality))
    }

    /// The image as WebP of quality 0.85, an animation when it is one; nil for the empty image.
    ///
    /// Where colours are few and that is smaller, nothing is lost.
    public var webPData: Data? { encoded(as: .webp, quality: ImageEncodingOptions.usualQuality) }

    /// Decodes the first image of WebP data at scale 1; nil for other data.
    ///
    /// - Parameter webPData: The encoded bytes.
    public convenience init?(webPData: Data) {
        guard ImageContentType(sniffing: webPData) == .webp else { return nil }
        self.init(data: webPData)
    }
}
