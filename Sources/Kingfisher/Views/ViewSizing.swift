// How large an image has to be for the view it is loaded into: for loads with the option `sizedToView`.

import Foundation
import KFImaging
import KFSupport

/// The size that images are decoded at for a view: the view's, rounded up, so that one of almost the same size has the
/// same image.
package struct ViewImageSize: Hashable, Sendable {
    /// The sides in pixels; of the view, not of the image.
    let width: Int
    let height: Int
    /// Whether the image covers the view or fits into it.
    let mode: ThumbnailMode

    /// The size for a view; nil when it has none, or shows images in their own size.
    ///
    /// A side that the view has none of is 0: it follows from the other one.
    ///
    /// - Parameters:
    ///   - size: The size of the view, in points.
    ///   - scale: Pixels a point.
    ///   - contentMode: How the view is filled.
    init?(_ size: CGSize, scale: CGFloat, contentMode: KFCrossPlatformContentMode) {
        switch contentMode {
        case .scaleAspectFit: mode = .fit
        case .scaleAspectFill, .scaleToFill: mode = .cover
        case .center: return nil
        }
        (width, height) = (Self.rounded(size.width * scale), Self.rounded(size.height * scale))
        guard width > 0 || height > 0 else { return nil }
    }

    /// A size that an image is decoded at exactly.
    init(_ image: CGSize) {
        (width, height, mode) = (Int(image.width), Int(image.height), .cover)
    }

    /// The next of four sizes in each power of two, such as 128, 160, 192, 224, 256 and 320.
    private static func rounded(_ pixels: CGFloat) -> Int {
        guard pixels > 0, pixels.isFinite else { return 0 }
        let limited = Int(min(pixels.rounded(.up), 65_536))
        var unit = 1
        while unit * 8 < limited { unit *= 2 }
        return (limited + unit - 1) / unit * unit
    }

    /// Whether an image of this size is large enough for another.
    func covers(_ other: ViewImageSize) -> Bool {
        func covers(_ side: Int, _ other: Int) -> Bool { side >= other && (side == 0) == (other == 0) }
        return (mode == other.mode || mode == .cover) && covers(width, other.width) && covers(height, other.height)
    }

    /// Whether an image that was made for this size is the original, which is not larger.
    func contains(_ image: KFCrossPlatformImage) -> Bool { image.pixelWidth != width && image.pixelHeight != height }
}

extension KingfisherParsedOptionsInfo {
    /// The options of a load for a size: its image is reduced before the processor of the options runs.
    ///
    /// The original of a download is kept on disk, so that another size does not need another download. The image has
    /// the scale of the view unless the options name one; animations stay animations unless a processor makes stills of
    /// them.
    ///
    /// - Parameters:
    ///   - size: The size, in pixels.
    ///   - scale: Pixels a point of the view.
    /// - Returns: The options.
    func sized(for size: ViewImageSize, scale: CGFloat) -> Self {
        var options = self
        if scaleFactor == 1 { options.scaleFactor = scale }
        let reducing = ThumbnailImageProcessor(
            pixelWidth: size.width,
            pixelHeight: size.height,
            mode: size.mode,
            scale: options.scaleFactor
        )
        if processor.identifier.isEmpty {
            options.processor = reducing
            if animatedProcessing == .firstFrame { options.animatedProcessing = .transformFrames }
        } else {
            options.processor = reducing |> processor
        }
        options.load.keepsDownload = true
        return options
    }
}

/// The wait of a load for the first layout of its view; it ends, too, when the view goes or is given another load.
@MainActor
final class LayoutWait {
    /// Fulfilled when the wait is over.
    let end = Promise<Void>()

    deinit { end.fulfil(()) }
}

/// The sizes that the images of a source were loaded in, so that a larger one can be shown until there is the right
/// one.
@MainActor
struct LoadedSizes {
    private static var sizes: [String: Set<ViewImageSize>] = [:]
    /// So many sources are known at most: it does no harm to forget them.
    private static let limit = 10_000

    /// Adds a size of a source, which is known by its key.
    static func add(_ size: ViewImageSize, of key: String) {
        if sizes.count >= limit { sizes.removeAll() }
        sizes[key, default: []].insert(size)
    }

    /// The sizes that are larger than another, smallest first.
    static func larger(than size: ViewImageSize, of key: String) -> [ViewImageSize] {
        (sizes[key] ?? []).filter { $0 != size && $0.covers(size) }.sorted { $0.width < $1.width }
    }
}
