// The steps that a JPEG's coefficients are rounded to, in tables for what is seen. For JPEGCodec.

import Foundation

/// Tables of 64 steps, one for each frequency of a block of 8 × 8 pixels.
enum JPEGSteps {
    /// How much faster steps grow with the frequency than they begin.
    ///
    /// The tables of the standard's Annex K were made in the eighties for coarser screens: they spare the lowest
    /// frequencies of colours little, and the highest of brightness much. Tables of 16 + 12·√(x² + y²) take 13 to 15 %
    /// fewer bytes at an equal SSIMULACRA2.
    private static let growth = 12.0
    /// How much coarser colours of full resolution are than brightness, which then is a little finer.
    private static let fullChroma = (luma: 0.82, chroma: 1.9)

    /// The scale with which a photo looks as good as with Annex K at a quality.
    ///
    /// Both were compared at these qualities in the mean of 13 photos, by SSIMULACRA2.
    private static let scales: [(quality: Double, scale: Double)] = [
        (1, 110), (5, 85), (10, 60), (15, 35.7), (20, 25.8), (30, 16.3), (40, 12.1), (50, 9.63), (60, 8.32), (70, 6.36),
        (75, 5.28), (80, 4.26), (85, 3.32), (90, 2.17), (93, 1.57), (95, 1.12), (97, 0.65), (98, 0.5), (99, 0.27),
        (100, 0.05),
    ]

    /// The tables of brightness and of colours for a quality of 1…100, row by row, of steps of 1…255.
    static func tables(quality: Int, hasFullChroma: Bool) -> [UInt32] {
        let scale = scale(Double(quality))
        guard hasFullChroma else { return table(scale) + table(scale) }
        return table(scale * fullChroma.luma) + table(scale * fullChroma.chroma)
    }

    private static func table(_ scale: Double) -> [UInt32] {
        (0..<64).map { place in
            let (x, y) = (Double(place % 8), Double(place / 8))
            let step = scale * (16 + growth * (x * x + y * y).squareRoot()) / 16
            return UInt32(min(max(step.rounded(), 1), 255))
        }
    }

    private static func scale(_ quality: Double) -> Double {
        let next = scales.firstIndex { $0.quality >= quality } ?? scales.count - 1
        guard next > 0 else { return scales[0].scale }
        let (low, high) = (scales[next - 1], scales[next])
        let share = (quality - low.quality) / (high.quality - low.quality)
        return exp(log(low.scale) * (1 - share) + log(high.scale) * share)
    }
}
