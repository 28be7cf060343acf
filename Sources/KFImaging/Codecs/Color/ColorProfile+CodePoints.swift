// Colour spaces given by the code points of ITU-T H.273, as cICP and nclx do.

extension ColorProfile {
    /// Colour spaces by numbers.
    ///
    /// Primaries: 1 (BT.709, sRGB), 9 (BT.2020) and 12 (Display P3). Curves: 13 (sRGB), 1, 6, 14 and 15 (video, shown
    /// on screens as if it were sRGB), 4 and 5 (gamma 2.2 and 2.8), 8 (linear), 16 (PQ) and 18 (HLG).
    ///
    /// - Parameters:
    ///   - primaries: The number of the primaries: red, green and blue.
    ///   - transfer: The number of the curve, by which values become light.
    ///   - peak: The brightest light of an image in PQ, in candela a square metre.
    /// - Returns: The profile; nil when a number has no profile here.
    static func coded(
        primaries: Int,
        transfer: Int,
        peak: Double = HDRTransferFunction.usualPeak
    ) -> ColorProfile? {
        guard let colors = chromaticities(primaries) else { return nil }
        return coded(chromaticities: [0.3127, 0.3290] + colors, transfer: transfer, peak: peak)
    }

    /// A colour space by its colours (white, red, green, blue as x, y pairs) and the number of its curve; nil when the
    /// number is not listed above.
    static func coded(
        chromaticities values: [Double],
        transfer: Int,
        peak: Double = HDRTransferFunction.usualPeak
    ) -> ColorProfile? {
        switch transfer {
        case 1, 6, 13, 14, 15: .primaries(values, gamma: 0)
        case 4: .primaries(values, gamma: 2.2)
        case 5: .primaries(values, gamma: 2.8)
        case 8: .primaries(values, gamma: 1)
        case 16: .highDynamicRange(values, .pq(peak: peak))
        case 18: .highDynamicRange(values, .hlg)
        default: nil
        }
    }

    /// The colours that a file of the HEIF family names; nil for those of sRGB.
    ///
    /// Unspecified numbers (2) mean sRGB, and so do curves that are unknown.
    ///
    /// - Parameters:
    ///   - primaries: The number of the colours.
    ///   - transfer: The number of the curve.
    ///   - values: White, red, green, blue as x, y pairs, as the number says.
    /// - Returns: The profile.
    static func nclx(primaries: UInt32, transfer: UInt32, chromaticities values: [Double]) -> ColorProfile? {
        let hasKnownCurve = [1, 2, 6, 13, 14, 15].contains(transfer)
        // Unspecified primaries have no chromaticities of their own.
        if primaries <= 2 { return hasKnownCurve ? nil : .coded(primaries: 1, transfer: Int(transfer)) }
        return .coded(chromaticities: values, transfer: Int(transfer)) ?? .primaries(values, gamma: 0)
    }

    /// Red, green, blue as x, y pairs; white is D65 for all of them.
    private static func chromaticities(_ number: Int) -> [Double]? {
        switch number {
        case 1: [0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
        case 9: [0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
        case 12: [0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
        default: nil
        }
    }
}
