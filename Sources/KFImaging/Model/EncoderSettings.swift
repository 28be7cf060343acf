// What encoders can do beside the quality, with ranges and defaults: the one table of these, which ImageEncoding, the
// options of kf and the settings of the server are made of.

/// How files are coded, beside their quality: what shows them earlier, or makes them smaller for more time.
///
/// Numbers out of their range count as the nearest in it.
public struct EncoderSettings: Sendable, Hashable {
    /// The efforts that WebP knows.
    public static let webPEfforts = 0...6
    /// The effort of WebP unless set, where something may be lost.
    ///
    /// Of images that were made smaller in linear light, 2 makes files of the size that 4 makes of others.
    @_spi(Server) public static let usualWebPEffort = 2
    /// The speeds that AVIF knows.
    public static let avifSpeeds = 0...10
    /// The sizes that a palette may have.
    public static let paletteSizes = 2...256

    /// The steps that a JPEG is rounded to; for what is seen unless set.
    public var jpegTables = JPEGTables.perceptual
    /// Whether a JPEG shows all of the image early, coarsely at first; true unless set.
    ///
    /// Such files are a little smaller, and take more time and memory to write and to read. Above 24 megapixels none is
    /// made.
    public var isProgressive = true
    /// Whether a PNG shows all of the image early; false unless set.
    ///
    /// Such files are larger. PNGs of several frames are not interlaced.
    public var isInterlaced = false
    /// The most colours of a PNG of one frame, 2…256; nil keeps all.
    ///
    /// Where there are more, each becomes the nearest of those that stand for them, without dithering. Images that are
    /// partly see-through keep their colours.
    public var paletteSize: Int?
    /// How long WebP looks for smaller files, 0…6; nil is 2, and 6 where nothing may be lost.
    public var webPEffort: Int?
    /// What WebP takes images for.
    public var webPPreset = WebPPreset.general
    /// How quickly AVIF is written, 0…10, of animations at most 6; 9 unless set.
    ///
    /// Slower is smaller.
    public var avifSpeed = 9

    /// The usual settings.
    public init() {}

    /// All that differs from the usual settings, as a text; empty where nothing does.
    package var identifier: String {
        self == Self()
            ? ""
            : "\(jpegTables) \(isProgressive) \(isInterlaced) \(paletteSize ?? 0) \(webPEffort ?? -1) \(webPPreset) \(avifSpeed)"
    }
}

/// The tables of steps that a JPEG's coefficients are rounded to.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum JPEGTables: Sendable, Hashable, CaseIterable {
    /// Coarser where the eye sees less: 13 to 15 % fewer bytes than with the others at an equal score of SSIMULACRA2.
    case perceptual
    /// Those of the standard's Annex K, which most programs write.
    case annexK
}

/// What an image is, for the encoder of WebP, which then weighs details and flat areas differently.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum WebPPreset: String, CaseIterable, Sendable, Hashable {
    /// Anything.
    case general = "default"
    /// A portrait, or what is indoors.
    case picture
    /// What is outdoors, in natural light.
    case photo
    /// Lines with high contrast.
    case drawing
    /// A small colourful image.
    case icon
    /// Writing.
    case text

    /// Its number in libwebp.
    var number: Int32 { Int32(Self.allCases.firstIndex(of: self) ?? 0) }
}

extension ClosedRange<Int> {
    /// The number of the range that is nearest.
    func nearest(to number: Int) -> Int { Swift.min(Swift.max(number, lowerBound), upperBound) }
}
