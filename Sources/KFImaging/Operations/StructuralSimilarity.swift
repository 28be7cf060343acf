// SSIM, which says how alike two images look; for ImageComparison.

import Foundation

/// The structural similarity of two images after Wang, Bovik, Sheikh and Simoncelli (2004): of their brightness, in
/// Gaussian windows of 11 × 11 pixels, averaged over all windows that are within the image.
///
/// The brightness is the luma of BT.601, 0…255, transparent parts being black. The windows of smaller images are cut.
enum StructuralSimilarity {
    /// Subtracted from the brightness, so that variances are not small differences of large squares.
    private static let middle: Float = 128
    private static let (c1, c2): (Float, Float) = (0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255)

    /// The mean of all windows, 1 for equal images, of two bitmaps of one size.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    static func mean(_ one: Bitmap, _ other: Bitmap) throws(ImagingError) -> Double {
        let (first, second) = (try luma(of: one), try luma(of: other))
        let (across, down) = (window(one.width), window(one.height))
        let windows = PixelSize(one.width - across.count + 1, one.height - down.count + 1)
        let sums = try Buffer<Double>(windows.height)
        ParallelRows.forEachBand(of: windows) { band in
            withUnsafeTemporaryAllocation(of: SIMD4<Float>.self, capacity: one.width) { columns in
                for y in band {
                    columns.initialize(repeating: .zero)
                    for (tap, weight) in down.enumerated() {
                        let start = (y + tap) * one.width
                        add(first.base + start, second.base + start, weight, to: columns)
                    }
                    sums.base[y] = similarity(columns, across, count: windows.width)
                }
            }
        }
        defer { withExtendedLifetime((first, second, sums)) {} }
        return (0..<windows.height).reduce(0) { $0 + sums.base[$1] } / Double(windows.pixelCount)
    }

    /// Adds a row of both images, weighted, to sums of each column: of a, of b, of a² + b², and of a · b.
    @inline(__always)
    private static func add(
        _ first: UnsafeMutablePointer<Float>,
        _ second: UnsafeMutablePointer<Float>,
        _ weight: Float,
        to columns: UnsafeMutableBufferPointer<SIMD4<Float>>
    ) {
        for x in columns.indices {
            let (a, b) = (first[x], second[x])
            columns[x] += weight * SIMD4(a, b, a * a + b * b, a * b)
        }
    }

    /// The sum of the similarities of windows side by side.
    private static func similarity(
        _ columns: UnsafeMutableBufferPointer<SIMD4<Float>>,
        _ weights: [Float],
        count: Int
    ) -> Double {
        var sum = 0.0
        for x in 0..<count {
            var mean = SIMD4<Float>.zero
            for tap in weights.indices { mean += weights[tap] * columns[x + tap] }
            let covariance = mean.w - mean.x * mean.y
            let variances = mean.z - (mean.x * mean.x + mean.y * mean.y)
            let (a, b) = (mean.x + middle, mean.y + middle)
            let (product, squares) = (a * b, a * a + b * b)
            sum += Double(
                (2 * product + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2))
            )
        }
        return sum
    }

    /// The weights of a window along a side: of a Gaussian with a standard deviation of 1.5 pixels.
    private static func window(_ side: Int) -> [Float] {
        let count = min(11, side)
        let weights = (0..<count).map { tap in
            let distance = Double(tap) - Double(count - 1) / 2
            return exp(-distance * distance / (2 * 1.5 * 1.5))
        }
        let sum = weights.reduce(0, +)
        return weights.map { Float($0 / sum) }
    }

    /// The brightness less the middle one.
    private static func luma(of bitmap: Bitmap) throws(ImagingError) -> Buffer<Float> {
        let luma = try Buffer<Float>(bitmap.size.pixelCount)
        bitmap.forEachRow { y, row in
            let line = luma.base + y * bitmap.width
            for x in 0..<bitmap.width {
                let (red, green, blue) = (row[x] >> 16 & 0xFF, row[x] >> 8 & 0xFF, row[x] & 0xFF)
                line[x] = 0.299 * Float(red) + 0.587 * Float(green) + 0.114 * Float(blue) - middle
            }
        }
        return luma
    }
}
