// A Gaussian blur by its definition, row by row. For sharpening, and for blurs of a few pixels.

import Foundation
import KFSupport

/// Blurs a range of columns by a Gaussian and returns the rows in order.
///
/// It keeps only as many rows as the kernel has.
final class RowBlur {
    /// How many columns are blurred at a time, so that the rows that are held do not grow with the width of the image.
    static let mostColumns = 1 << 12

    /// Writes the numbers of some columns of a row.
    typealias RowSource = (_ y: Int, _ columns: Range<Int>, _ target: UnsafeMutablePointer<Float>) -> Void

    private let size: PixelSize
    private let reach: Int
    private let weights: [Float]
    /// How many numbers a pixel has.
    private let channels: Int
    /// One row of numbers, with those within reach of the columns.
    private let wide: Buffer<Float>
    /// Rows blurred horizontally; row y is at y modulo their number.
    private let window: Buffer<Float>
    private let sums: Buffer<Float>
    private var columns = 0..<0
    private var received = 0

    /// - Parameters:
    ///   - size: The size of the image.
    ///   - weights: Those of the pixels around a pixel, an odd number of them, whose sum is 1.
    ///   - channels: How many numbers a pixel has.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ size: PixelSize, weights: [Float], channels: Int = 4) throws(ImagingError) {
        let count = min(size.width, Self.mostColumns)
        (self.size, self.weights, self.channels) = (size, weights, channels)
        reach = weights.count / 2
        wide = try Buffer((count + 2 * reach) * channels)
        window = try Buffer((2 * reach + 1) * count * channels)
        sums = try Buffer(count * channels)
    }

    /// How far from a pixel the Gaussian can be seen.
    static func reach(sigma: Double) -> Int { sigma < 0.5 ? 1 : Int((3 * sigma).rounded(.up)) }

    /// A blur by all of a Gaussian that can be seen.
    convenience init(_ size: PixelSize, sigma: Double) throws(ImagingError) {
        let reach = Self.reach(sigma: sigma)
        // Below 0.5, sampling the bell curve is inexact. Three weights with the variance σ² are exact.
        let bell: [Double] =
            sigma < 0.5
            ? [sigma * sigma / 2, 1 - sigma * sigma, sigma * sigma / 2]
            : (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = bell.reduce(0, +)
        try self.init(size, weights: bell.map { Float($0 / total) })
    }

    /// Begins with the first row of some columns, ``mostColumns`` at most.
    func start(_ columns: Range<Int>) {
        self.columns = columns
        received = 0
    }

    /// Row `y` of these columns, blurred; rows of bytes, four a pixel, must be asked for in order.
    func row(_ y: Int, _ source: (Int) -> UnsafePointer<UInt8>) -> UnsafePointer<Float> {
        row(y) { y, columns, target in
            let bytes = source(y) + columns.lowerBound * 4
            for i in 0..<columns.count * 4 { target[i] = Float(bytes[i]) }
        }
    }

    /// Row `y` of these columns, blurred; rows must be asked for in order.
    func row(_ y: Int, from source: RowSource) -> UnsafePointer<Float> {
        while received < min(size.height, y + reach + 1) {
            widen(received, source)
            let target = slot(received)
            for (tap, weight) in weights.enumerated() {
                add(wide.base + tap * channels, weight, to: target, isFirst: tap == 0)
            }
            received += 1
        }
        for (tap, weight) in weights.enumerated() {
            let near = min(max(y + tap - reach, 0), size.height - 1)
            add(slot(near), weight, to: sums.base, isFirst: tap == 0)
        }
        return UnsafePointer(sums.base)
    }

    private func slot(_ y: Int) -> UnsafeMutablePointer<Float> {
        window.base + y % (2 * reach + 1) * columns.count * channels
    }

    /// Fetches the columns and those within reach; the ends of the row are repeated.
    private func widen(_ y: Int, _ source: RowSource) {
        let reached = columns.lowerBound - reach..<columns.upperBound + reach
        let existing = reached.clamped(to: 0..<size.width)
        let left = existing.lowerBound - reached.lowerBound
        let first = wide.base + left * channels
        source(y, existing, first)
        for x in 0..<left { (wide.base + x * channels).update(from: first, count: channels) }
        let last = first + (existing.count - 1) * channels
        for x in left + existing.count..<reached.count {
            (wide.base + x * channels).update(from: last, count: channels)
        }
    }

    private func add(
        _ row: UnsafePointer<Float>,
        _ weight: Float,
        to sums: UnsafeMutablePointer<Float>,
        isFirst: Bool
    ) {
        let count = columns.count * channels
        if isFirst {
            for i in 0..<count { sums[i] = row[i] * weight }
        } else {
            for i in 0..<count { sums[i] += row[i] * weight }
        }
    }
}

extension Bitmap {
    /// An image of this size whose rows are made from the rows of this one and of its blur.
    ///
    /// - Parameters:
    ///   - blur: The blur, for images of this size, four numbers a pixel.
    ///   - write: Is given some bytes of a row, the blurred values of these bytes, where to write, and how many bytes.
    /// - Returns: The image.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func combined(
        with blur: RowBlur,
        write: (UnsafePointer<UInt8>, UnsafePointer<Float>, UnsafeMutablePointer<UInt8>, _ count: Int) -> Void
    ) throws(ImagingError) -> Bitmap {
        try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                func source(_ y: Int) -> UnsafePointer<UInt8> {
                    (base + y * bytesPerRow).assumingMemoryBound(to: UInt8.self)
                }
                for left in stride(from: 0, to: width, by: RowBlur.mostColumns) {
                    let columns = left..<min(left + RowBlur.mostColumns, width)
                    blur.start(columns)
                    for y in 0..<height {
                        let mean = blur.row(y, source)
                        write(source(y) + left * 4, mean, rows.row(y) + left * 4, columns.count * 4)
                    }
                }
            }
        }
    }
}
