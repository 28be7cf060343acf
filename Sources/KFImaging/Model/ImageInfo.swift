// The properties of an image in its header, without its pixels.

public import Foundation

/// Information from the header of encoded image data, found without decoding pixels.
public struct ImageInfo: Sendable, Codable, Hashable {
    /// The format.
    public var contentType: ImageContentType
    /// The width as stored, in pixels; `orientation` says whether width and height are exchanged for display.
    public var pixelWidth: Int
    /// The height as stored, in pixels.
    public var pixelHeight: Int
    /// How the pixels are to be turned for display.
    public var orientation: Orientation
    /// The number of frames; 1 for stills.
    public var frameCount: Int
    /// The time that all frames take once, in seconds; nil for stills.
    public var duration: TimeInterval?
    /// How often the frames are to be played, 0 meaning endlessly; nil for stills.
    public var loopCount: Int?
    /// Whether the format of the pixels allows transparency.
    ///
    /// The pixels may be opaque nevertheless.
    public var hasAlpha: Bool
    /// The name of the embedded ICC profile; nil when there is none.
    public var colorProfileName: String?
    /// The length of the encoded data in bytes.
    public var byteCount: Int
    /// The gain map of a JPEG, which makes the image one of high dynamic range; nil when there is none.
    ///
    /// Those of HEIC and AVIF are not looked for.
    public var gainMap: GainMapInfo?

    /// The information of a custom coder about a still image that is upright and opaque; the rest can be set.
    ///
    /// - Parameters:
    ///   - contentType: The format.
    ///   - pixelWidth: The width as stored, in pixels; at least 1.
    ///   - pixelHeight: The height as stored, in pixels; at least 1.
    ///   - byteCount: The length of the encoded data in bytes.
    public init(contentType: ImageContentType, pixelWidth: Int, pixelHeight: Int, byteCount: Int) {
        self.init(contentType: contentType, size: PixelSize(pixelWidth, pixelHeight), byteCount: byteCount)
    }

    init(contentType: ImageContentType, size: PixelSize, byteCount: Int) {
        self.contentType = contentType
        pixelWidth = size.width
        pixelHeight = size.height
        orientation = .up
        frameCount = 1
        hasAlpha = false
        self.byteCount = byteCount
    }

    /// Records an animation; a single frame has neither duration nor loops.
    mutating func setAnimation(_ frameCount: Int, _ duration: Double, loops: Int) {
        self.frameCount = frameCount
        guard frameCount > 1 else { return }
        self.duration = duration
        loopCount = loops
    }
}
