// Large images on little memory: cut, made smaller, sharpened and encoded while they are decoded. For `kf process` and
// results that are encoded.

package import Foundation

/// An image that is decoded, changed and encoded in strips of a few rows, so that it is never in memory as a whole.
///
/// It has the very pixels that the same operations on bitmaps give. What takes part is an upright, opaque still in
/// JPEG, PNG that is not interlaced, or TIFF, decoded in this process, and operations that do not enlarge it; for all
/// else there is no such image.
package struct StripImage: Sendable {
    /// The size after all steps so far.
    package private(set) var size: PixelSize
    /// Whether a bitmap of the file, or of a step, would take 64 MiB or more.
    ///
    /// Below that, bitmaps are as fast, or faster where several cores work on one.
    package private(set) var isLarge: Bool
    /// Whether the bytes are those of a file that is mapped, whose pages may be dropped once they have been decoded.
    package var isMapped = false
    /// The part of the file's image that it shows, for a gain map; nil where its colours are others.
    private var shownPart: ShownPart?
    private let data: Data
    private let codec: any ImageCodec.Type
    private let limits: ImageDecodingLimits
    private var steps: [Step] = []

    private enum Step: Sendable {
        case crop(PixelRect)
        /// In the first step, the decoder makes the image smaller as far as it can.
        case reduce(ScaledSize)
        case resize(ScaledSize, ResamplingFilter)
        case sharpen(UnsharpMask)
    }

    private static let largePixelCount = 1 << 24
    /// No file so short has an image so large, unless that is as good as empty.
    private static let smallestByteCount = 1 << 15
    /// The farthest that sharpening reaches: its rows of numbers are four times as long as those of bytes.
    private static let farthestReach = 16

    /// The image of a file; nil where its rows do not come one after another.
    package init?(_ data: Data, limits: ImageDecodingLimits = .default) {
        guard data.count >= Self.smallestByteCount, limits.isolation == .inProcess,
            ImageCodersManager.shared.custom == nil
        else { return nil }
        self.init(ofAnyLength: data, limits)
    }

    /// The same for a file of any length, of a built-in format, decoded here.
    init?(ofAnyLength data: Data, _ limits: ImageDecodingLimits) {
        guard let codec = try? Codecs.codec(for: data),
            let size = try? data.withBytes({ bytes throws(ImagingError) in try codec.rows(bytes, limits)?.size })
        else { return nil }
        (self.data, self.codec, self.limits, self.size) = (data, codec, limits, size)
        isLarge = size.pixelCount >= Self.largePixelCount
        shownPart = codec.contentType == .jpeg ? ShownPart(storedAs: .up) : nil
    }
}

// MARK: - Steps

extension StripImage {
    /// Keeps the part in a rectangle of pixels, made integral outwards; all of it when nothing would be left.
    package mutating func crop(to rect: CGRect) {
        guard let part = Geometry.pixelRect(rect, within: size), part.size != size else { return }
        let rect = PixelRect(x: part.x, y: part.y, size: part.size)
        shownPart = shownPart?.part(rect, of: size)
        add(.crop(rect), part.size)
    }

    /// Scales to a size.
    ///
    /// - Parameters:
    ///   - target: The size.
    ///   - filter: How pixels are made out of pixels.
    ///   - space: Whether pixels are averaged in linear light, or as encoded sRGB.
    /// - Returns: Whether that is possible: neither side may become longer.
    package mutating func resize(to target: PixelSize, filter: ResamplingFilter, in space: WorkingSpace) -> Bool {
        guard isReduction(target) else { return false }
        if target != size { add(.resize(ScaledSize(target, in: space), filter), target) }
        return true
    }

    /// Makes the image as small as a thumbnail is.
    ///
    /// - Returns: Whether that is possible: neither side may become longer, and the part to be kept must be known.
    package mutating func reduce(to thumbnail: Thumbnail) -> Bool {
        var options = DecodingOptions(limits: limits)
        options.thumbnail = thumbnail
        let target = options.target(for: size)
        guard isReduction(target.size), let part = thumbnail.part(of: target.size) else { return false }
        if target.size != size { add(.reduce(target), target.size) }
        shownPart = shownPart?.part(part, of: target.size, for: thumbnail)
        if part.size != size { add(.crop(part), part.size) }
        return true
    }

    /// Makes the longer side as long as a limit, in pixels, if it is longer; 0 limits nothing.
    package mutating func reduce(toLongerSide limit: Int) {
        let target = Geometry.thumbnail(of: size, limit: limit)
        if target != size { add(.reduce(ScaledSize(target)), target) }
    }

    /// Makes details more pronounced; both numbers are those of `Image.sharpened(sigma:amount:)`.
    ///
    /// - Returns: Whether that is possible: the Gaussian must not reach far.
    package mutating func sharpen(sigma: Double, amount: Double) -> Bool {
        guard let mask = UnsharpMask(sigma: sigma, amount: amount) else { return true }
        guard mask.reach <= Self.farthestReach else { return false }
        shownPart = nil
        add(.sharpen(mask), size)
        return true
    }

    private func isReduction(_ target: PixelSize) -> Bool {
        target.width <= size.width && target.height <= size.height
    }

    private mutating func add(_ step: Step, _ size: PixelSize) {
        // What the decoder makes small itself is no bitmap of the whole.
        if case .reduce = step, steps.isEmpty { isLarge = size.pixelCount >= Self.largePixelCount }
        self.size = size
        steps.append(step)
    }
}

extension Thumbnail {
    /// The part of the scaled image that is kept; nil where the image has to be looked at.
    fileprivate func part(of scaled: PixelSize) -> PixelRect? {
        let kept = kept(of: scaled)
        if kept == scaled { return PixelRect(x: 0, y: 0, size: kept) }
        guard case .point(let anchor) = anchor else { return nil }
        return Self.place(of: kept, in: scaled, anchor)
    }
}

// MARK: - Results

extension StripImage {
    /// A file made in strips.
    package struct File: Sendable {
        /// Its bytes.
        package let data: Data
        /// Whether a part of the source was missing or could not be decoded.
        package let isDamaged: Bool
    }

    /// The image as a file.
    ///
    /// - Returns: The file; nil where the encoder of the format needs the whole image, as most do.
    /// - Throws: ``ImagingError``, also where the file is damaged so that pixels are missing.
    package func encoded(
        as type: ImageContentType,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> File? {
        guard let encoder = Codecs.builtIn(type), options.targetScore == nil else { return nil }
        try type.check(size)
        return try data.withBytes { bytes throws(ImagingError) -> File? in
            var decoded: DecodedRows?
            let file = try encoder.encode(
                { () throws(ImagingError) -> any ImageRows in try rows(bytes, &decoded) },
                options
            )
            guard let file, let decoded else { return nil }
            try decoded.finish()
            return File(data: withGainMap(file, as: type, options), isDamaged: decoded.isDamaged)
        }
    }

    private func withGainMap(_ file: Data, as type: ImageContentType, _ options: ImageEncodingOptions) -> Data {
        guard type == .jpeg, let map = options.metadata.gainMap, let shownPart else { return file }
        return map.added(to: file, of: size, showing: shownPart, options) ?? file
    }

    /// The image as a bitmap; nil when the task is cancelled.
    ///
    /// - Throws: ``ImagingError``, also where the file is damaged so that pixels are missing.
    package func image() throws(ImagingError) -> Image? {
        try data.withBytes { bytes throws(ImagingError) -> Image? in
            var decoded: DecodedRows?
            let rows = try rows(bytes, &decoded)
            var (isComplete, y) = (false, 0)
            let bitmap = try Bitmap(size, hasAlpha: false) { output throws(ImagingError) in
                isComplete = try rows.forEachRow { row in
                    output.row(y).update(from: row, count: size.width * 4)
                    y += 1
                    return true
                }
            }
            guard isComplete, let decoded else { return nil }
            try decoded.finish()
            var metadata = Image.Metadata(contentType: codec.contentType)
            (metadata.isDamaged, metadata.shownPart) = (decoded.isDamaged, shownPart)
            return Image(cgImage: bitmap, scale: 1, orientation: .up, metadata: metadata)
        }
    }

    /// The rows after all steps, from the first on, and those of the file that they are made of.
    private func rows(
        _ bytes: UnsafeRawBufferPointer,
        _ decoded: inout DecodedRows?
    ) throws(ImagingError) -> any ImageRows {
        guard let file = try codec.rows(bytes, limits) else { throw .malformed(codec.contentType, detail: "no rows") }
        var steps = steps[...]
        var target = ScaledSize(file.size)
        if case .reduce(let size)? = steps.first {
            target = size
            steps = steps.dropFirst()
        }
        let decoding = try file.begin(target)
        let first = try DecodedRows(file, decoding, mapped: isMapped ? bytes : nil)
        decoded = first
        var rows: any ImageRows = first
        if first.size != target.size {
            rows = try Self.resized(rows, extent: decoding.extent, to: target, decoding.filter)
        }
        for step in steps {
            switch step {
            case .crop(let part): rows = CroppedRows(rows, part)
            case .reduce(let target): rows = try Self.resized(rows, to: target, .automatic)
            case .resize(let target, let filter): rows = try Self.resized(rows, to: target, filter)
            case .sharpen(let mask): rows = try SharpenedRows(rows, mask)
            }
        }
        return rows
    }

    private static func resized(
        _ rows: any ImageRows,
        extent: PixelExtent? = nil,
        to target: ScaledSize,
        _ filter: ResamplingFilter
    ) throws(ImagingError) -> any ImageRows {
        if let reduced = try ReducedRows(rows, extent: extent, to: target, filter) { return reduced }
        return try ResizedRows(rows, extent: extent, to: target, filter)
    }
}
