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
        // Below a tenth of a pixel the Gaussian is a single number, and nothing would change.
        guard sigma >= 0.1, amount > 0, sigma.isFinite, amount.isFinite else { return self }
        let strength = Float(min(amount, 100))
        return try combined(with: RowBlur(size, sigma: min(sigma, 100))) { source, mean, target, count in
            sharpen(source, mean, to: target, count: count, strength: strength)
        }
    }

    private func sharpen(
        _ source: UnsafePointer<UInt8>,
        _ mean: UnsafePointer<Float>,
        to target: UnsafeMutablePointer<UInt8>,
        count: Int,
        strength: Float
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
