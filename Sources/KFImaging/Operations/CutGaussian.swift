// The Gaussian by which the image server blurs and sharpens: libvips' one, so that URLs of imgproxy look the same.

import Foundation

/// A Gaussian in steps of a twentieth of its height, which ends where it falls below a share of that.
struct CutGaussian {
    /// For the neighbours at one side, the middle and those at the other side; their sum is 1.
    let weights: [Float]
    /// The standard deviation that is left after the cut.
    let deviation: Double

    /// Nil where nothing but the middle is left.
    ///
    /// - Parameters:
    ///   - sigma: The standard deviation before the cut, in pixels; at most 2,000 count.
    ///   - least: The share of the height below which it ends.
    init?(sigma: Double, least: Double) {
        guard sigma >= 0.2 else { return nil }
        let sigma = min(sigma, 2_000)
        func height(_ distance: Int) -> Double { exp(-Double(distance * distance) / (2 * sigma * sigma)) }
        let side = (1..<max(1, Int(8 * sigma))).prefix { height($0) >= least }
        guard !side.isEmpty else { return nil }
        let steps = side.map { (20 * height($0)).rounded(.toNearestOrEven) }
        let total = 20 + 2 * steps.reduce(0, +)
        weights = (steps.reversed() + [20] + steps).map { Float($0 / total) }
        deviation = (zip(side, steps).reduce(0) { $0 + 2 * Double($1.0 * $1.0) * $1.1 } / total).squareRoot()
    }
}

extension Bitmap {
    /// This bitmap, blurred by a Gaussian that ends where it falls below a fifth of its height.
    ///
    /// A wide one is made of boxes of the deviation that it has left.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func cutGaussianBlurred(sigma: Double) throws(ImagingError) -> Bitmap {
        guard let bell = CutGaussian(sigma: sigma, least: 0.2) else { return self }
        if bell.weights.count > 17 { return try blurred(BoxBlur(sigma: bell.deviation)) }
        return try blurred(RowBlur(size, weights: bell.weights))
    }
}
