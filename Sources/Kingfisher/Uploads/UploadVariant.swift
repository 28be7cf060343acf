// The sizes and formats that an upload is wanted in, and what it may cost. For Upload.

import Foundation
public import KFImaging

/// One size of an upload, in one format or several. (Not in Kingfisher.)
public struct UploadVariant: Hashable, Sendable {
    /// The name by which its files are found, such as `avatar`.
    public var name: String
    /// The width of its box in pixels; 0 leaves it free: it follows from the height.
    public var width: Int
    /// The height of its box in pixels; 0 leaves it free: it follows from the width.
    ///
    /// Without both, the image keeps its size.
    public var height: Int
    /// How the image is fitted to the box; all of it unless set.
    public var mode = ThumbnailMode.fit
    /// The part that `ThumbnailMode.fill` keeps; the middle unless set.
    public var anchor = ThumbnailAnchor.center
    /// Whether smaller images are enlarged; false unless set.
    public var enlarges = false
    /// The formats and qualities that it is wanted in: one file each.
    ///
    /// Without a format, that of the upload; animations stay animations where ``ImageEncoding/frames`` and the format
    /// say so. Of EXIF is kept what ``ImageEncoding/keptMetadata`` says: nothing unless set.
    public var encodings: [ImageEncoding]

    /// A variant.
    ///
    /// - Parameters:
    ///   - name: The name by which its files are found.
    ///   - width: The width of its box in pixels; 0 or less leaves it free.
    ///   - height: The height of its box in pixels; 0 or less leaves it free.
    ///   - encodings: The formats and qualities that it is wanted in.
    public init(
        _ name: String,
        width: Int = 0,
        height: Int = 0,
        encodings: [ImageEncoding] = [ImageEncoding()]
    ) {
        (self.name, self.width, self.height, self.encodings) = (name, max(width, 0), max(height, 0), encodings)
    }

    /// The box, in which amounts of light become a mean.
    var box: Thumbnail {
        func side(_ length: Int) -> Int { min(max(length, 0), Int(Int32.max)) }
        let (width, height) = (side(width), side(height))
        var box = Thumbnail(width: width, height: height, mode: mode, anchor: anchor, enlarges: enlarges)
        box.space = .linear
        return box
    }

    /// The same box for the frames of an animation.
    var processor: ThumbnailImageProcessor {
        let size = CGSize(width: Double(width), height: Double(height))
        return ThumbnailImageProcessor(size: size, mode: mode, anchor: anchor, enlarges: enlarges)
    }
}

/// What an upload may cost, and what is found out of it. (Not in Kingfisher.)
public struct UploadOptions: Hashable, Sendable {
    /// The most bytes that it may have; 32 MiB unless set.
    public var maxBytes = 32 << 20
    /// The limits of decoding, and where it is done: those of ``forServers`` unless set.
    public var limits = UploadOptions.forServers
    /// Whether an upload of which a part is missing, or cannot be decoded, is used as far as it goes; otherwise, as
    /// unless set, it is an error.
    public var allowsDamage = false
    /// Whether an upload is taken whose name has the extension of another image format than its bytes, such as a PNG
    /// that is named `.jpg`; otherwise, as unless set, it is an error.
    ///
    /// Extensions of one format, such as `.jpg` and `.jpeg`, are the same. Without a name, and with an extension that
    /// is of no image format, there is nothing to compare.
    public var allowsWrongExtension = false
    /// Whether the place where a photo was taken is read; false unless set.
    public var readsLocation = false
    /// How many colours that stand for the image are found at most, 0…256; 5 unless set.
    public var maxColorCount = 5

    /// Limits for untrusted files: 50 megapixels, animations of up to 300 frames and 4 megapixels each, decoded in
    /// locked processes where these can be had (`DecodingIsolation.sandboxed`).
    public static var forServers: ImageDecodingLimits {
        var limits = ImageDecodingLimits(maxPixelCount: 50_000_000)
        (limits.maxFrameCount, limits.maxFramePixelCount) = (300, 4_000_000)
        limits.maxAnimationPixelCount = 100_000_000
        limits.isolation = .sandboxed
        return limits
    }

    /// The usual options.
    public init() {}
}
