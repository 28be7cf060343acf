// Images of floating-point numbers: the ideal small image, and the similarity of another one to it.

import CBaseline
import Foundation
import Kingfisher

/// Red, green and blue, row by row, 0…255.
struct ExactImage {
    let width: Int
    let height: Int
    let values: [Float]

    /// The pixels of an opaque image.
    init(_ image: Image) throws {
        guard let bitmap = image.cgImage else { throw BenchmarkError("there is no image") }
        self = bitmap.withUnsafeBytes { bytes in
            ExactImage(width: bitmap.width, height: bitmap.height) { x, y, component in
                Float(bytes[y * bitmap.bytesPerRow + x * 4 + 2 - component])
            }
        }
    }

    /// The pixels of a JPEG, decoded in full by libjpeg-turbo.
    init(jpeg data: Data) throws {
        var (width, height) = (0, 0)
        let pixels = data.withUnsafeBytes { bytes in
            baseline_jpeg(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, 8, &width, &height)
        }
        guard let pixels else { throw BenchmarkError("libjpeg-turbo cannot decode the image") }
        defer { free(pixels) }
        let stride = width * 4
        self.init(width: width, height: height) { x, y, component in Float(pixels[y * stride + x * 4 + 2 - component]) }
    }

    /// The pixels of rows with three bytes per pixel.
    init(rgb bytes: UnsafeBufferPointer<UInt8>, width: Int) throws {
        try BenchmarkError.unless(
            bytes.count > 0 && bytes.count % (width * 3) == 0,
            "the small image has another size"
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

    /// The image with another number for each.
    func mapped(_ curve: (Float) -> Float) -> ExactImage {
        ExactImage(width: width, height: height) { x, y, component in curve(values[(y * width + x) * 3 + component]) }
    }

    /// The pixels, rounded.
    var image: Image {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { memory, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let place = y * bytesPerRow + x * 4
                    for component in 0..<3 {
                        let value = values[(y * width + x) * 3 + component]
                        memory[place + 2 - component] = UInt8(min(max(value, 0), 255).rounded())
                    }
                    memory[place + 3] = 255
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    /// The image resized with Lanczos-3 by the formula, at the exact place of each pixel and without rounding.
    func reduced(to width: Int, _ height: Int) -> ExactImage {
        let rows = ExactImage.weights(self.height, height)
        let high = ExactImage(width: self.width, height: height) { x, y, component in
            rows[y].reduce(0) { $0 + $1.weight * values[($1.place * self.width + x) * 3 + component] }
        }
        let columns = ExactImage.weights(self.width, width)
        return ExactImage(width: width, height: height) { x, y, component in
            columns[x].reduce(0) { $0 + $1.weight * high.values[(y * self.width + $1.place) * 3 + component] }
        }
    }

    /// The source positions for each of `target` positions, with their weights.
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

    /// The peak signal-to-noise ratio of another image of the same size, in decibels.
    func similarity(of other: ExactImage) throws -> Double {
        try BenchmarkError.unless(
            (other.width, other.height) == (width, height),
            "the small images have different sizes"
        )
        let sum = zip(values, other.values).reduce(0.0) { sum, pair in
            let exact = min(max(pair.0, 0), 255)
            return sum + Double((exact - pair.1) * (exact - pair.1))
        }
        return 10 * log10(255 * 255 / (sum / Double(values.count)))
    }
}
