// The similarity of two images as a number.

public import KFImaging

#if canImport(Glibc)
import Glibc
#endif

/// Compares images pixel by pixel.
///
/// The measure is the peak signal-to-noise ratio in decibels, over all four components as they are stored
/// (premultiplied). As a rule of thumb 50 is invisible, 40 is a good JPEG, 30 is a visible difference, and below 20
/// the images are different.
public enum ImageComparison {
    /// The result of a comparison, which describes itself for a failed expectation.
    public struct Outcome: Sendable, CustomStringConvertible {
        /// The PSNR in decibels: infinite for equal images; nil when their sizes differ.
        public let psnr: Double?
        /// The largest difference of one component of one pixel, from 0 to 255.
        public let largestDifference: Int
        /// The position of that pixel, from the top left corner.
        public let position: (x: Int, y: Int)
        /// The least PSNR, in decibels.
        public let bound: Double

        /// Whether the PSNR reaches the bound.
        public var isAlike: Bool { psnr.map { $0 >= bound } ?? false }

        /// The figures in one line.
        public var description: String {
            guard let psnr else { return "the sizes differ" }
            return "\(psnr) dB of \(bound); the largest difference is \(largestDifference) at \(position)"
        }
    }

    /// The peak signal-to-noise ratio of two images.
    ///
    /// - Parameters:
    ///   - one: An image.
    ///   - other: Another image.
    /// - Returns: Decibels, infinite when all pixels are equal; nil when the sizes differ.
    public static func psnr(_ one: Bitmap, _ other: Bitmap) -> Double? { compare(one, other).psnr }

    /// Compares two images, for an expectation: `#expect(outcome.isAlike, "\(outcome)")`.
    ///
    /// - Parameters:
    ///   - one: An image.
    ///   - other: Another image.
    ///   - bound: The least PSNR, in decibels.
    /// - Returns: The PSNR, and whether it reaches the bound.
    public static func compare(_ one: Bitmap, _ other: Bitmap, atLeast bound: Double = 40) -> Outcome {
        guard one.width == other.width, one.height == other.height else {
            return Outcome(psnr: nil, largestDifference: 255, position: (0, 0), bound: bound)
        }
        var squares = 0
        var largest = 0
        var position = (x: 0, y: 0)
        one.withUnsafeBytes { left in
            other.withUnsafeBytes { right in
                for y in 0..<one.height {
                    let leftRow = y * one.bytesPerRow
                    let rightRow = y * other.bytesPerRow
                    for index in 0..<one.width * 4 {
                        let difference = abs(Int(left[leftRow + index]) - Int(right[rightRow + index]))
                        squares += difference * difference
                        if difference > largest {
                            largest = difference
                            position = (index / 4, y)
                        }
                    }
                }
            }
        }
        let mean = Double(squares) / Double(one.width * one.height * 4)
        let psnr = squares == 0 ? Double.infinity : 10 * log10(255 * 255 / mean)
        return Outcome(psnr: psnr, largestDifference: largest, position: position, bound: bound)
    }
}
