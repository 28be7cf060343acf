// The quality whose file reaches a score of SSIMULACRA 2, found by encoding a sample of the image. For Codecs.

import Foundation

/// The search for the lowest quality that looks good enough.
struct QualityTarget {
    /// The score that is asked for.
    private let score: Double
    private let codec: any ImageCodec.Type
    private let options: ImageEncodingOptions
    private let decode: (Data) throws(ImagingError) -> Bitmap

    /// So many encodings of the sample say enough.
    private static let mostEncodings = 4
    /// A measured score as near as this is reached.
    private static let tolerance = 0.4
    /// So far above the score a quality is not what was asked for.
    private static let farAbove = 2.0

    init(
        score: Double,
        codec: any ImageCodec.Type,
        options: ImageEncodingOptions,
        decode: @escaping (Data) throws(ImagingError) -> Bitmap
    ) {
        // Beyond these nothing changes.
        self.score = min(max(score, -1000), 100)
        (self.codec, self.options, self.decode) = (codec, options, decode)
    }

    /// The quality for a bitmap, one of those that may be found.
    func quality(for bitmap: Bitmap) throws(ImagingError) -> Double {
        let sample = try Self.sample(of: bitmap)
        let original = codec.contentType == .jpeg ? try sample.flattenedOnWhite() : sample
        var measured: [Int: Double] = [:]
        var quality = options.searchedQuality(nearest: usualQuality)
        while measured.count < Self.mostEncodings {
            let reached = try self.score(of: original, quality: quality)
            measured[quality] = reached
            if abs(reached - score) <= Self.tolerance { break }
            let next = options.searchedQuality(nearest: estimate(measured))
            if measured[next] != nil { break }
            quality = next
        }
        return Double(best(measured)) / 100
    }

    /// The lowest quality that was measured to reach the score; where that is far above it, the estimated one, if it
    /// lies between two that were measured.
    private func best(_ measured: [Int: Double]) -> Int {
        let guess = options.searchedQuality(nearest: estimate(measured))
        let reaching = measured.filter { $0.value >= score - Self.tolerance }.min { $0.key < $1.key }
        guard let reaching else { return guess }
        let isBetween = measured.keys.contains { $0 < guess }
        return reaching.value > score + Self.farAbove && isBetween ? guess : reaching.key
    }

    private func score(of original: Bitmap, quality: Int) throws(ImagingError) -> Double {
        var options = options
        (options.quality, options.targetScore, options.metadata) = (Double(quality) / 100, nil, EncodedMetadata())
        return try PerceptualScore.score(original, try decode(try codec.encode(original, options)))
    }

    /// The lowest whole quality that reaches the score as far as is known: between two that were measured on a straight
    /// line, beyond them on the slope of the two nearest ones, or the usual one.
    private func estimate(_ measured: [Int: Double]) -> Int {
        let below = measured.filter { $0.value < score - Self.tolerance }.max { $0.key < $1.key }
        let above = measured.filter { $0.value >= score - Self.tolerance }.min { $0.key < $1.key }
        let slope = slope(of: measured)
        switch (below, above) {
        case (let low?, let high?) where low.key < high.key:
            let share = (score - low.value) / max(high.value - low.value, 0.001)
            let between = Double(low.key) + Double(high.key - low.key) * share
            return min(max(Int(between.rounded(.up)), low.key + 1), high.key)
        case (_, let high?):
            if high.value - score <= Self.tolerance { return high.key }
            return max(1, high.key - max(1, Int((high.value - score) / slope)))
        case (let low?, nil):
            let missing = ((score - low.value) / slope).rounded(.up)
            return min(100, low.key + max(1, Int(missing)))
        case (nil, nil): return usualQuality
        }
    }

    /// How much of a score a step of quality is worth.
    private func slope(of measured: [Int: Double]) -> Double {
        let nearest = measured.sorted { (abs($0.value - score), $0.key) < (abs($1.value - score), $1.key) }.prefix(2)
        guard let one = nearest.first, let other = nearest.last, one.key != other.key else { return usual.slope }
        let slope = (one.value - other.value) / Double(one.key - other.key)
        return min(max(slope, usual.slope / 2), usual.slope * 4)
    }

    /// What is right for photos in the mean: the quality with a score of 75, and what a step is worth there.
    private var usual: (quality: Double, slope: Double) {
        switch codec.contentType {
        case .webp: (82, 0.8)
        case .avif: (64, 0.5)
        default: (70, 0.55)
        }
    }

    private var usualQuality: Int {
        Int(min(max(usual.quality + (score - 75) / usual.slope, 20), 95).rounded())
    }

    /// The whole of an image up to a megapixel; of a larger one sixteen squares of 256 pixels, in four rows.
    private static func sample(of bitmap: Bitmap) throws(ImagingError) -> Bitmap {
        let (side, perRow) = (256, 4)
        guard bitmap.size.pixelCount > side * side * perRow * perRow, min(bitmap.width, bitmap.height) >= side else {
            return bitmap
        }
        // At multiples of 16, where the blocks of the encoders are, too.
        func start(_ number: Int, _ length: Int) -> Int { (length - side) * number / (perRow - 1) / 16 * 16 }
        return try bitmap.withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(PixelSize(side * perRow, side * perRow), hasAlpha: bitmap.hasAlpha ? nil : false) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                for y in 0..<side * perRow {
                    let row = base + (start(y / side, bitmap.height) + y % side) * bitmap.bytesPerRow
                    let pixels = row.assumingMemoryBound(to: UInt32.self)
                    for column in 0..<perRow {
                        (rows.pixels(y) + column * side).update(from: pixels + start(column, bitmap.width), count: side)
                    }
                }
            }
        }
    }
}

extension Bitmap {
    /// An opaque copy on white; the bitmap itself if it is opaque.
    fileprivate func flattenedOnWhite() throws(ImagingError) -> Bitmap {
        guard hasAlpha else { return self }
        return try redrawn(hasAlpha: false) { _, row, target in
            for x in 0..<width {
                let rest = 255 - (row[x] >> 24)
                // Premultiplied: white shines through as far as the pixel is not opaque.
                target[x] = 0xFF00_0000 | (row[x] & 0x00FF_FFFF) + rest * 0x0001_0101
            }
        }
    }
}
