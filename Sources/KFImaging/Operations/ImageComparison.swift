// How much two images differ: a number for the errors, one for what is seen, and an image; for `kf compare`.

import Foundation

/// The differences between two images of one size.
package struct ImageComparison: Sendable {
    /// The number of pixels that differ.
    package private(set) var differing = 0
    /// The largest difference of a component, 0…255.
    package private(set) var largest = 0
    /// The peak signal-to-noise ratio of red, green and blue, and of alpha where one of the images has any, in
    /// decibels; infinite for equal images.
    package let psnr: Double
    /// The structural similarity of the brightness, see ``StructuralSimilarity``; 1 for equal images.
    package let ssim: Double
    /// The score of SSIMULACRA 2, see ``PerceptualScore``; 100 for equal images.
    package let score: Double
    private let one: Bitmap
    private let other: Bitmap

    /// Compares the images as they are displayed; colours count as much as they are opaque.
    ///
    /// Nil when their sizes differ, and for empty images.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package init?(_ first: Image, _ second: Image) throws(ImagingError) {
        guard let one = try first.upright().cgImage, let other = try second.upright().cgImage, one.size == other.size
        else { return nil }
        (self.one, self.other) = (one, other)
        var (sum, differing, largest) = (UInt64(0), 0, UInt32(0))
        Self.forEachPair(one, other) { a, b in
            guard a != b else { return }
            differing += 1
            for shift in stride(from: UInt32(0), to: 32, by: 8) {
                let distance = Self.distance(a, b, shift)
                sum += UInt64(distance * distance)
                largest = max(largest, distance)
            }
        }
        let components = one.hasAlpha || other.hasAlpha ? 4.0 : 3.0
        let meanSquare = Double(sum) / (Double(one.width) * Double(one.height) * components)
        psnr = sum == 0 ? .infinity : 10 * log10(255 * 255 / meanSquare)
        ssim = sum == 0 ? 1 : try StructuralSimilarity.mean(one, other)
        score = sum == 0 ? 100 : try PerceptualScore.score(one, other)
        (self.differing, self.largest) = (differing, Int(largest))
    }

    /// An opaque image of the differences: black where there is none, brightened so that the largest one is 255.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func difference() throws(ImagingError) -> Image {
        let levels = (0...255).map { UInt32(min(255, ($0 * 255 + largest / 2) / max(largest, 1))) }
        let bitmap = try other.withUnsafeBytes { bytes throws(ImagingError) in
            try one.redrawn(hasAlpha: false) { y, row, target in
                guard let base = bytes.baseAddress else { return }
                let line = (base + y * other.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                for x in 0..<one.width {
                    let alpha = Self.distance(row[x], line[x], 24)
                    target[x] = stride(from: UInt32(0), to: 24, by: 8).reduce(0xFF00_0000) { pixel, shift in
                        pixel | levels[Int(max(alpha, Self.distance(row[x], line[x], shift)))] << shift
                    }
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    private static func distance(_ one: UInt32, _ other: UInt32, _ shift: UInt32) -> UInt32 {
        let (a, b) = (one >> shift & 0xFF, other >> shift & 0xFF)
        return a > b ? a - b : b - a
    }

    private static func forEachPair(_ one: Bitmap, _ other: Bitmap, _ body: (UInt32, UInt32) -> Void) {
        other.withUnsafeBytes { bytes in
            one.forEachRow { y, row in
                guard let base = bytes.baseAddress else { return }
                let line = (base + y * other.bytesPerRow).assumingMemoryBound(to: UInt32.self)
                for x in 0..<one.width { body(row[x], line[x]) }
            }
        }
    }
}

extension Image {
    /// How much of this image's quality another one has left, as people judge it: the score of SSIMULACRA 2.
    ///
    /// 100 for equal images; no difference is seen from about 90 on, 70 is good, 50 is fair, and there is no lower end.
    /// It blocks the thread: some 50 ms a megapixel.
    ///
    /// - Parameter other: The image that was made of this one, in the same size as it is displayed.
    /// - Returns: The score; nil for images of different sizes, empty ones, and without memory.
    package func similarity(to other: Image) -> Double? {
        guard let one = try? upright().cgImage, let two = try? other.upright().cgImage, one.size == two.size else {
            return nil
        }
        return try? PerceptualScore.score(one, two)
    }
}
