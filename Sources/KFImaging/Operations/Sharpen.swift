// Unsharp masking: the details that a Gaussian blur takes away are added once more.

import Foundation

extension Bitmap {
    /// The image, sharpened; transparency stays as it is.
    ///
    /// Colours are compared with the mean of the colours around them, weighted with alpha, so that invisible pixels do
    /// not count; beyond the edges the outermost pixels are repeated.
    ///
    /// - Parameters:
    ///   - sigma: The standard deviation of the Gaussian, in pixels; at most 100 are used.
    ///   - amount: How much of the difference is added; at most 100 times.
    /// - Returns: The new bitmap; the bitmap itself where these numbers change nothing.
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func sharpened(sigma: Double, amount: Double) throws(ImagingError) -> Bitmap {
        guard let mask = UnsharpMask(sigma: sigma, amount: amount) else { return self }
        return try combined(with: RowBlur(size, sigma: mask.sigma)) { source, mean, target, count in
            mask.sharpen(source, mean, to: target, count: count)
        }
    }
}

/// How much of which details is added to an image.
struct UnsharpMask {
    /// The standard deviation of the Gaussian, in pixels: 0.1…100.
    let sigma: Double
    private let strength: Float

    /// Nil where the numbers change nothing.
    init?(sigma: Double, amount: Double) {
        // Below a tenth of a pixel the Gaussian is a single number, and nothing would change.
        guard sigma >= 0.1, amount > 0, sigma.isFinite, amount.isFinite else { return nil }
        self.sigma = min(sigma, 100)
        strength = Float(min(amount, 100))
    }

    /// How many rows above and below a row make it.
    var reach: Int { RowBlur.reach(sigma: sigma) }

    /// Writes some bytes of a row, sharpened, from the bytes and their means.
    func sharpen(
        _ source: UnsafePointer<UInt8>,
        _ mean: UnsafePointer<Float>,
        to target: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        for x in stride(from: 0, to: count, by: 4) {
            let alpha = Float(source[x + 3])
            let share = alpha / max(mean[x + 3], 1e-3)
            for i in x..<x + 3 {
                let color = Float(source[i])
                let sharp = color + strength * (color - mean[i] * share)
                target[i] = UInt8(min(max(sharp + 0.5, 0), alpha))
            }
            target[x + 3] = source[x + 3]
        }
    }
}
