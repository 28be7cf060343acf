// Pictures of floating-point numbers: what a small picture should be, and how far one is from it. Knows nothing of the
// library but its bitmaps.

import CBaseline
import Foundation
import Kingfisher

/// Red, green and blue, row by row, 0…255.
struct ExactPicture {
    let width: Int
    let height: Int
    let values: [Float]

    /// What an opaque image shows.
    init(_ image: Image) throws {
        guard let bitmap = image.cgImage else { throw BenchmarkError("there is no picture") }
        self = bitmap.withUnsafeBytes { bytes in
            ExactPicture(width: bitmap.width, height: bitmap.height) { x, y, component in
                Float(bytes[y * bitmap.bytesPerRow + x * 4 + 2 - component])
            }
        }
    }

    /// What a JPEG shows, decoded in full by libjpeg-turbo.
    init(jpeg data: Data) throws {
        var (width, height) = (0, 0)
        let pixels = data.withUnsafeBytes { bytes in
            baseline_jpeg(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, 8, &width, &height)
        }
        guard let pixels else { throw BenchmarkError("libjpeg-turbo cannot decode the picture") }
        defer { free(pixels) }
        let stride = width * 4
        self.init(width: width, height: height) { x, y, component in Float(pixels[y * stride + x * 4 + 2 - component]) }
    }

    /// Rows of three bytes a pixel.
    init(rgb bytes: UnsafeBufferPointer<UInt8>, width: Int) throws {
        try BenchmarkError.unless(
            bytes.count > 0 && bytes.count % (width * 3) == 0,
            "the small picture has another size"
        )
        self.init(width: width, height: bytes.count / 3 / width) { x, y, component in
            Float(bytes[(y * width + x) * 3 + component])
        }
    }

    private init(width: Int, height: Int, _ value: (_ x: Int, _ y: Int, _ component: Int) -> Float) {
        self.width = width
        self.height = height
        values = [Float](unsafeUninitializedCapacity: width * height * 3) { buffer, count in
            for y in 0..<height {
                for x in 0..<width {
                    for component in 0..<3 { buffer[(y * width + x) * 3 + component] = value(x, y, component) }
                }
            }
            count = buffer.count
        }
    }

    /// The picture resized with Lanczos-3 by the formula, in the place of each pixel and without rounding.
    func reduced(to width: Int, _ height: Int) -> ExactPicture {
        let rows = ExactPicture.weights(self.height, height)
        let high = ExactPicture(width: self.width, height: height) { x, y, component in
            rows[y].reduce(0) { $0 + $1.weight * values[($1.place * self.width + x) * 3 + component] }
        }
        let columns = ExactPicture.weights(self.width, width)
        return ExactPicture(width: width, height: height) { x, y, component in
            columns[x].reduce(0) { $0 + $1.weight * high.values[(y * self.width + $1.place) * 3 + component] }
        }
    }

    /// Which places make up each of `target` ones, and how much each counts.
    private static func weights(_ source: Int, _ target: Int) -> [[(place: Int, weight: Float)]] {
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        let step = Double(source) / Double(target)
        return (0..<target).map { index in
            let center = (Double(index) + 0.5) * step
            let near = max(0, Int(center - 3 * step))..<min(source, Int(center + 3 * step) + 1)
            let shares = near.map { place in
                let distance = abs(Double(place) + 0.5 - center) / step
                return distance < 3 ? sinc(distance) * sinc(distance / 3) : 0
            }
            let sum = shares.reduce(0, +)
            return zip(near, shares).map { ($0, Float($1 / sum)) }
        }
    }

    /// The peak signal-to-noise ratio of another picture of the same size, in decibels.
    func similarity(of other: ExactPicture) throws -> Double {
        try BenchmarkError.unless(
            (other.width, other.height) == (width, height),
            "the small pictures have different sizes"
        )
        let sum = zip(values, other.values).reduce(0.0) { sum, pair in
            let exact = min(max(pair.0, 0), 255)
            return sum + Double((exact - pair.1) * (exact - pair.1))
        }
        return 10 * log10(255 * 255 / (sum / Double(values.count)))
    }
}
