// What is known of an upload beside its variants: for a database, and for what is shown until its image is there.

public import Foundation
public import KFImaging

/// The facts about an upload. (Not in Kingfisher.)
public struct UploadFacts: Sendable {
    /// A colour, and how much of the image it stands for.
    public struct ColorShare: Hashable, Sendable {
        /// The colour, which is opaque.
        public let color: KFCrossPlatformColor
        /// The share of the visible pixels, 0…1.
        public let share: Double
    }

    /// Its format, size as stored, frames, length in bytes, and whatever else its header says.
    public let info: ImageInfo
    /// What its camera has noted; nil where nothing is.
    public let photo: PhotoInfo?
    /// Colours that stand for it, the most frequent one first.
    public let colors: [ColorShare]
    /// A short text that holds a very blurred copy, for ``BlurHashImageDataProvider``; nil only without memory.
    public let blurHash: String?
    /// Some 25 bytes that hold a very blurred copy, for ``ThumbHashImageDataProvider``; nil only without memory.
    public let thumbHash: Data?
    /// 64 bits by which uploads that look alike are found; nil only without memory.
    public let perceptualHash: PerceptualHash?
    /// Whether a part of it is missing or could not be decoded, with ``UploadOptions/allowsDamage``; the variants show
    /// the rest.
    ///
    /// Of an animation's later frames it is known where a variant keeps them.
    public internal(set) var isDamaged: Bool

    /// The width as it is displayed, in pixels.
    public var displayedWidth: Int { info.orientation.isTransposing ? info.pixelHeight : info.pixelWidth }
    /// The height as it is displayed, in pixels.
    public var displayedHeight: Int { info.orientation.isTransposing ? info.pixelWidth : info.pixelHeight }

    /// - Parameters:
    ///   - info: Its header.
    ///   - photo: What its camera has noted.
    ///   - image: All of the image, in any size and proportions.
    ///   - maxColorCount: How many colours are found at most.
    init(_ info: ImageInfo, _ photo: PhotoInfo?, _ image: KFCrossPlatformImage, maxColorCount: Int) {
        (self.info, self.photo, isDamaged) = (info, photo, image.isDamaged)
        let box = Thumbnail(width: 200, height: 200, mode: .fit, anchor: .center, enlarges: false)
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let original = info.orientation.isTransposing ? stored.transposed : stored
        let small = (try? image.thumbnail(box, ofOriginal: original)) ?? image
        let limit = min(max(maxColorCount, 0), 256)
        colors = (limit > 0 ? small.dominantColors(limit) : []).map { color in
            ColorShare(color: Color(premultipliedPixel: 0xFF00_0000 | color.color), share: color.share)
        }
        blurHash = small.blurHash(components: (x: 4, y: 3))
        thumbHash = small.thumbHash()
        perceptualHash = small.perceptualHash
    }
}
