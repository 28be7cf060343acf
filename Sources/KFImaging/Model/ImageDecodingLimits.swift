// How much an image may cost before it is refused, and where it is decoded: here, or in processes that can do nothing
// else.

public import Foundation
import KFSupport

/// The limits on the cost of decoding.
///
/// An image that exceeds a limit is refused before memory is allocated for it.
public struct ImageDecodingLimits: Sendable, Hashable {
    /// The most pixels an image may have, judged by the size its header declares; 2²⁸ (a gigabyte) unless set.
    ///
    /// That is for the image itself, of 4 bytes a pixel. One that is made smaller while it is decoded usually takes
    /// less, as few of its rows are held at a time. Most formats hold a row whole, though: an image a few rows high
    /// takes as much as if it were not made smaller. The libraries behind HEIC and JPEG XL hold more while they decode:
    /// some 8 bytes a pixel, and up to 34 for lossless JPEG XL, so a server that decodes those sets this lower.
    ///
    /// What operations work with beside the image and its result counts, too: none takes more for it than the largest
    /// image may take. The images of filters of your own (``FilterImage``) take 16 bytes a pixel, and are refused
    /// beyond a quarter of the pixels. Encoders take more: GIF's some 9 bytes a pixel, the libraries for
    /// WebP, AVIF and JPEG XL some ten or more.
    public var maxPixelCount: Int
    /// The most scans a progressive JPEG may have; each costs a visit of the whole image.
    ///
    /// 500 unless set.
    public var maxScanCount: Int
    /// The most memory in bytes for the coefficients of a progressive JPEG, whose last scan may change all of them.
    ///
    /// Even a small version of the image needs them all: 3 bytes a pixel when the colours are stored at a quarter of
    /// the resolution, as is usual, and 6 bytes when they are stored in full. The same goes for JPEGs that are not
    /// progressive but keep their colours in separate scans. 320 MiB unless set: enough for 111 or 55 megapixels.
    public var maxCoefficientBytes: Int

    /// The most frames an animation may have; 10,000 unless set.
    ///
    /// Stills made of animations are not limited by this.
    public var maxFrameCount = 10_000
    /// The most pixels an image of an animation may have; 2²⁵ (7680 × 4320 and a little more, 128 MiB) unless set.
    ///
    /// That is less than ``maxPixelCount``, as up to six of them are in memory while frames are decoded one after the
    /// other, processed and written. A few bytes can announce the largest of them. Stills made of animations are not
    /// limited by this.
    public var maxFramePixelCount = 1 << 25
    /// The most pixels that all frames of an animation may have together when they are to be decoded at once; 2²⁸ (a
    /// gigabyte) unless set.
    ///
    /// Animations whose frames are decoded on demand hold three of them (small ones two more, for going back), and are
    /// limited by ``maxFramePixelCount`` instead.
    public var maxAnimationPixelCount = 1 << 28

    /// The longest time in seconds that drawing a vector graphic may take, from its start; 10 unless set.
    ///
    /// Of the built-in formats this concerns SVG, which is drawn by a process of its own. That process is ended when
    /// the time is over.
    public var maxDrawingDuration: TimeInterval = 10

    /// The longest time in seconds that decoding an image, or a frame of an animation, may take in a process of its
    /// own; 60 unless set.
    ///
    /// When it is over, that process is ended. What is decoded in this process cannot be ended, and is not limited.
    public var maxDecodingDuration: TimeInterval = 60
    /// Where images are decoded: in this process, unless ``default`` says otherwise when the limits are made.
    public var isolation = DecodingIsolation.inForce

    /// Limits for a machine with a few gigabytes.
    ///
    /// - Parameters:
    ///   - maxPixelCount: The most pixels.
    ///   - maxScanCount: The most scans of a progressive JPEG.
    ///   - maxCoefficientBytes: The most memory for the coefficients of a progressive JPEG, in bytes.
    public init(maxPixelCount: Int = 1 << 28, maxScanCount: Int = 500, maxCoefficientBytes: Int = 320 << 20) {
        self.maxPixelCount = maxPixelCount
        self.maxScanCount = maxScanCount
        self.maxCoefficientBytes = maxCoefficientBytes
    }

    /// Throws when an image of this size is not allowed.
    package func check(width: Int, height: Int) throws(ImagingError) {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        guard overflow || count > maxPixelCount else { return }
        throw .limitExceeded(limit: "maxPixelCount", allowed: maxPixelCount, width: width, height: height)
    }

    /// Throws when a working buffer may not be as large as so many images of this size.
    func check(working times: Int, _ size: PixelSize) throws(ImagingError) {
        guard size.pixelCount > maxPixelCount / times else { return }
        throw .limitExceeded(
            limit: "maxPixelCount",
            allowed: maxPixelCount,
            width: size.width,
            height: size.height
        )
    }

    /// Throws when an animation may not have images of this size.
    package func check(frame size: PixelSize) throws(ImagingError) {
        guard size.pixelCount > maxFramePixelCount else { return }
        throw .limitExceeded(
            limit: "maxFramePixelCount",
            allowed: maxFramePixelCount,
            width: size.width,
            height: size.height
        )
    }

    /// Throws when an animation may not have so many frames.
    package func check(frameCount: Int) throws(ImagingError) {
        guard frameCount > maxFrameCount else { return }
        throw .tooManyFrames(frameCount, allowed: maxFrameCount)
    }

    /// Throws when coefficients of an image of this size may not take so many bytes.
    func check(coefficientBytes count: Int, of size: PixelSize) throws(ImagingError) {
        guard count > maxCoefficientBytes else { return }
        throw .limitExceeded(
            limit: "maxCoefficientBytes",
            allowed: maxCoefficientBytes,
            width: size.width,
            height: size.height
        )
    }
}

/// Whether images are decoded in this process, or in decoder processes that are locked.
///
/// Formats are decoded by C libraries, and a crafted file may exploit a fault of theirs to run code in that process.
/// A decoder process has nothing worth taking: it cannot open files, connect, or start programs (Landlock and seccomp),
/// its memory is limited, and this process believes nothing of what it says beyond the pixels. What it can still do is
/// to give wrong pixels. When it crashes or takes too long, that costs the one image:
/// ``ImagingError/decoderEnded(_:reason:)``.
///
/// The program is `kf-decoder`. It is looked for where the variable `KF_DECODER` says, then beside the program or in
/// `../libexec` and `../libexec/kingfisher`. A program that depends on the product `KingfisherDecoder` and calls
/// `EmbeddedDecoder.start()` as the first thing it does needs no other program.
///
/// Isolated are all built-in formats, their headers and their frames. Coders of your own (``ImageCoder``) run in this
/// process, and so does encoding. Previews of progressive JPEGs that still arrive are not made.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum DecodingIsolation: String, Sendable, Hashable, CaseIterable {
    /// Images are decoded in this process.
    case inProcess
    /// Images are decoded in decoder processes where these can be had; otherwise in this process, which says so once on
    /// standard error.
    case sandboxed
    /// Images are decoded in decoder processes or not at all: ``ImagingError/isolationUnavailable(detail:)``.
    case required

    private static let current = Locked(DecodingIsolation.inProcess)

    /// The isolation of limits that are made from now on; set with ``ImageDecodingLimits/default``.
    static var inForce: DecodingIsolation {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
