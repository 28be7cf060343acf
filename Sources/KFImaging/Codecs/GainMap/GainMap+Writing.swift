// The gain map of an image that was cut, turned and scaled, and the file of both. For encoding JPEG.

import Foundation

extension GainMap {
    /// An image's file with the map behind it.
    ///
    /// - Parameters:
    ///   - image: The JPEG of the image.
    ///   - size: The size of the image.
    ///   - part: The part of the map's own image that it shows.
    ///   - options: The quality, and what the encoder does beside that.
    /// - Returns: The file; nil for a map that is damaged, exceeds its limits, or that there is no memory for.
    func added(
        to image: Data,
        of size: PixelSize,
        showing part: ShownPart,
        _ options: ImageEncodingOptions
    ) -> Data? {
        guard let bitmap = try? bitmap(on: size, showing: part) else { return nil }
        var mapOptions = ImageEncodingOptions(quality: options.quality)
        (mapOptions.encoder, mapOptions.subsampling) = (options.encoder, .full)
        let map = isGrey ? try? JPEGCodec.encodeGrey(bitmap, mapOptions) : try? JPEGCodec.encode(bitmap, mapOptions)
        guard let segments = map.flatMap({ JPEGSegments($0) }),
            let parameters = Self.segments(xmp?.packet, iso?.content)
        else { return nil }
        return file(of: image, segments.adding(parameters))
    }

    /// Both as one file: with the index that finds the map, and what tells readers of either kind that there is one.
    private func file(of image: Data, _ map: Data) -> Data? {
        guard let segments = JPEGSegments(image),
            let signs = Self.segments(xmp?.directory(mapLength: map.count), iso?.imageContent)
        else { return nil }
        // A segment's content begins behind its marker and its length.
        let place = segments.place - image.startIndex + signs.count + 4
        func index(_ imageLength: Int) -> Data? {
            JPEGSegments.segment(0xE2, MultiPictureIndex.content(lengths: (imageLength, map.count), at: place))
        }
        guard let length = index(0)?.count, let index = index(image.count + signs.count + length) else { return nil }
        return segments.adding(signs + index) + map
    }

    /// The segments of XMP and ISO 21496-1, as far as there are such.
    private static func segments(_ xmp: Data?, _ iso: Data?) -> Data? {
        var bytes = Data()
        for (marker, content) in [(0xE1, xmp), (0xE2, iso)] as [(UInt8, Data?)] {
            guard let content else { continue }
            guard let segment = JPEGSegments.segment(marker, content) else { return nil }
            bytes += segment
        }
        return bytes
    }

    // MARK: Pixels

    /// The part of the map for a part of its image, scaled as the image is, but never enlarged.
    private func bitmap(on size: PixelSize, showing part: ShownPart) throws(ImagingError) -> Bitmap {
        let decoded = try Codecs.image(of: file, JPEGCodec.self, DecodingOptions(limits: limits))
        guard !decoded.isDamaged, decoded.bitmap.size == self.size else {
            throw .malformed(.jpeg, detail: "the gain map is damaged")
        }
        let orientation = part.orientation
        let stored = orientation.isTransposing ? size.transposed : size
        let columns = MapSpan(part.columns, of: self.size.width)
        let rows = MapSpan(part.rows, of: self.size.height)
        let target = PixelSize(
            columns.count(for: stored.width, of: imageSize.width),
            rows.count(for: stored.height, of: imageSize.height)
        )
        let cut = try decoded.bitmap.part(
            PixelRect(x: columns.first, y: rows.first, size: PixelSize(columns.length, rows.length))
        )
        let coverage = PixelExtent(width: columns.coverage, height: rows.coverage)
        guard target != cut.size || !columns.isWhole || !rows.isWhole else {
            return try cut.oriented(from: orientation)
        }
        // Beside a bright place, a kernel with halos would make gains that the map does not have.
        return try cut.resampled(
            to: ScaledSize(target, coverage: coverage),
            extent: PixelExtent(width: columns.extent, height: rows.extent),
            filter: .bilinear
        ).oriented(from: orientation)
    }
}

/// A part of one axis of a map, which may begin and end within pixels.
///
/// The resampler takes it as a number of pixels, and the share of these pixels, around their middle, that it covers.
private struct MapSpan {
    /// The first pixel.
    let first: Int
    /// How many pixels there are from there on.
    let extent: Double
    /// The share of these pixels that the part covers.
    let coverage: Double
    private let mapLength: Int

    init(_ part: ClosedRange<Double>, of length: Int) {
        // Shares of pixels are hardly ever exact.
        func place(_ share: Double) -> Double {
            let place = share * Double(length)
            return abs(place - place.rounded()) < 1e-6 ? place.rounded() : place
        }
        let low = min(place(part.lowerBound), Double(length) - 0.01)
        let high = max(place(part.upperBound), low + 0.01)
        var (first, extent) = (Int(low), low + high - 2 * low.rounded(.down))
        if first + Int(extent.rounded()) > length {
            // From the next pixel on, what is meant begins a little before.
            (first, extent) = length - first > 2 ? (first + 1, extent - 2) : (first, Double(length - first))
        }
        (self.first, self.extent, mapLength) = (first, extent, length)
        coverage = (high - low) / extent
    }

    /// The pixels that are there.
    var length: Int { max(1, Int(extent.rounded())) }

    /// Whether the part is made of whole pixels.
    var isWhole: Bool { coverage == 1 && extent == extent.rounded() }

    /// The length of the part in a written map, for a result of `result` pixels out of an image of `imageLength`.
    func count(for result: Int, of imageLength: Int) -> Int {
        let wanted = (Double(result) * Double(mapLength) / Double(imageLength)).rounded()
        let most = (extent * coverage - 1e-6).rounded(.up)
        return max(1, Int(min(wanted, most)))
    }
}
