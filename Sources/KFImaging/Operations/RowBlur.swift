// A Gaussian blur by its definition, row by row. For sharpening, and for blurs of a few pixels.

import Foundation
import KFSupport

/// Blurs a range of columns by a Gaussian and returns the rows in order.
///
/// It keeps only as many rows as the kernel has.
final class RowBlur {
    /// How many columns are blurred at a time, so that the rows that are held do not grow with the width of the image.
    static let mostColumns = 1 << 12

    private let size: PixelSize
    private let reach: Int
    private let weights: [Float]
    /// One row of numbers, with those within reach of the columns.
    private let wide: Buffer<Float>
    /// Rows blurred horizontally; row y is at y modulo their number.
    private let window: Buffer<Float>
    private let sums: Buffer<Float>
    private var columns = 0..<0
    private var received = 0

    init(_ size: PixelSize, sigma: Double) throws(ImagingError) {
        let reach = sigma < 0.5 ? 1 : Int((3 * sigma).rounded(.up))
        // Below 0.5, sampling the bell curve is inexact. Three weights with the variance σ² are exact.
        let bell: [Double] =
            sigma < 0.5
            ? [sigma * sigma / 2, 1 - sigma * sigma, sigma * sigma / 2]
            : (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = bell.reduce(0, +)
        let count = min(size.width, Self.mostColumns)
        self.size = size
        self.reach = reach
        weights = bell.map { Float($0 / total) }
        wide = try Buffer((count + 2 * reach) * 4)
        window = try Buffer((2 * reach + 1) * count * 4)
        sums = try Buffer(count * 4)
    }

    /// Begins with the first row of some columns, ``mostColumns`` at most.
    func start(_ columns: Range<Int>) {
        self.columns = columns
        received = 0
    }

    /// Row `y` of these columns, blurred; rows must be asked for in order.
    func row(_ y: Int, _ source: (Int) -> UnsafePointer<UInt8>) -> UnsafePointer<Float> {
        while received < min(size.height, y + reach + 1) {
            take(source(received))
            received += 1
        }
        for (tap, weight) in weights.enumerated() {
            let near = min(max(y + tap - reach, 0), size.height - 1)
            add(slot(near), weight, to: sums.base, isFirst: tap == 0)
        }
        return UnsafePointer(sums.base)
    }

    private func slot(_ y: Int) -> UnsafeMutablePointer<Float> {
        window.base + y % (2 * reach + 1) * columns.count * 4
    }

    private func take(_ row: UnsafePointer<UInt8>) {
        widen(row)
        let target = slot(received)
        for (tap, weight) in weights.enumerated() {
            add(wide.base + tap * 4, weight, to: target, isFirst: tap == 0)
        }
    }

    /// Makes numbers of the columns and of those within reach; the ends of the row are repeated.
    private func widen(_ row: UnsafePointer<UInt8>) {
        let reached = columns.lowerBound - reach..<columns.upperBound + reach
        let existing = reached.clamped(to: 0..<size.width)
        let left = existing.lowerBound - reached.lowerBound
        for i in 0..<4 {
            for x in 0..<left { wide.base[x * 4 + i] = Float(row[i]) }
            for x in left + existing.count..<reached.count {
                wide.base[x * 4 + i] = Float(row[(size.width - 1) * 4 + i])
            }
        }
        let (source, target) = (row + existing.lowerBound * 4, wide.base + left * 4)
        for i in 0..<existing.count * 4 { target[i] = Float(source[i]) }
    }

    private func add(
        _ row: UnsafePointer<Float>,
        _ weight: Float,
        to sums: UnsafeMutablePointer<Float>,
        isFirst: Bool
    ) {
        let count = columns.count * 4
        if isFirst {
            for i in 0..<count { sums[i] = row[i] * weight }
        } else {
            for i in 0..<count { sums[i] += row[i] * weight }
        }
    }
}

extension Bitmap {
    /// An image of this size whose rows are made from the rows of this one and of its Gaussian blur.
    ///
    /// - Parameters:
    ///   - sigma: The standard deviation of the Gaussian, in pixels.
    ///   - write: Is given some bytes of a row, the blurred values of these bytes, where to write, and how many bytes.
    /// - Returns: The image.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func combinedWithBlur(
        sigma: Double,
        write: (UnsafePointer<UInt8>, UnsafePointer<Float>, UnsafeMutablePointer<UInt8>, _ count: Int) -> Void
    ) throws(ImagingError) -> Bitmap {
        let blur = try RowBlur(size, sigma: sigma)
        return try withUnsafeBytes { bytes throws(ImagingError) in
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
