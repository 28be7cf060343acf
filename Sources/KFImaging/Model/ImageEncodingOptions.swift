// The options of an encoder.

package import Foundation

/// How an image is to be encoded.
public struct ImageEncodingOptions: Sendable, Hashable {
    /// From 0 to 1, for formats that lose something; 1 unless set.
    ///
    /// WebP loses nothing where colours are few, as in drawings and GIFs, and that is smaller.
    public var quality: Double
    /// The score of SSIMULACRA 2 that JPEG, WebP and AVIF are to reach, in place of the quality.
    package var targetScore: Double?
    /// The qualities that may be found for it.
    package var searchedQualities = ImageEncodingOptions.allQualities
    /// Whether nothing may be lost, for formats that can do both; false unless set.
    public var lossless: Bool
    /// What encoders do beside that; JPEG has the tables of Annex K unless set, as Kingfisher's has.
    public var encoder: EncoderSettings
    /// The resolution of the colours in JPEG and AVIF.
    package var subsampling = ChromaSubsampling.automatic
    /// The sides of the images in an icon.
    ///
    /// In pixels, 1…256; nil: the image's own size, and 16, 32 and 48 where these are smaller.
    package var iconSides: [Int]?
    /// Whether a GIF has every frame of an animation, even if it plays more slowly for that.
    package var keepsFrames = false
    /// What is written beside the pixels.
    package var metadata = EncodedMetadata()

    /// Options of encoding.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; values outside are moved to the nearer end, and NaN counts as 1.
    ///   - lossless: Whether nothing may be lost.
    public init(quality: Double = 1, lossless: Bool = false) {
        self.quality = quality.isNaN ? 1 : min(max(quality, 0), 1)
        self.lossless = lossless
        encoder = EncoderSettings()
        encoder.jpegTables = .annexK
    }
}

extension ImageEncodingOptions {
    /// The quality of results for which none is set, for ImageEncoding and kf.
    package static let usualQuality = 0.85
    /// The qualities that differ, from 0.01 to 1.
    package static let allQualities = 0.01...1.0
    /// The scores that kf and the server take for a target.
    @_spi(Server) public static let targetScores = 1.0...100
    /// The target where a search is asked for and no score.
    @_spi(Server) public static let usualTargetScore = 75.0

    /// The quality of 1…100 that may be found and is nearest to one.
    func searchedQuality(nearest quality: Int) -> Int {
        let bounds = searchedQualities.clamped(to: Self.allQualities)
        func percent(_ quality: Double) -> Int { Int((quality * 100).rounded()) }
        return (percent(bounds.lowerBound)...percent(bounds.upperBound)).nearest(to: quality)
    }
}

/// The resolution of the colours beside that of the brightness.
package enum ChromaSubsampling: Sendable, Hashable {
    /// Full from a quality of 0.9 up, half below.
    case automatic
    /// As many samples as pixels: 4:4:4.
    case full
    /// A sample for each square of four pixels: 4:2:0.
    case half

    /// Whether the colours have the full resolution at a quality.
    func isFull(quality: Double) -> Bool {
        switch self {
        case .automatic: (quality * 100).rounded() >= 90
        case .full: true
        case .half: false
        }
    }
}

/// What a file says about its image.
package struct EncodedMetadata: Sendable, Hashable {
    /// An EXIF block that is right for the upright image; nil writes none, as GIF always does.
    package var exif: Data?
    /// Whether JPEG and WebP get a profile of sRGB, which is what the pixels are; PNG and AVIF are marked in any case.
    package var hasProfile = false
    /// The gain map of the file that the image was made of, which a JPEG gets where it can follow the image.
    package var gainMap: GainMap?

    package init(exif: Data? = nil, hasProfile: Bool = false, gainMap: GainMap? = nil) {
        (self.exif, self.hasProfile, self.gainMap) = (exif, hasProfile, gainMap)
    }
}
