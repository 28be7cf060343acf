// Colour spaces given by the code points of ITU-T H.273, as cICP and nclx do.

import Foundation

extension ColorProfile {
    /// Colour spaces by numbers.
    ///
    /// Primaries: 1 (BT.709, sRGB), 9 (BT.2020) and 12 (Display P3). Curves: 13 (sRGB), 1, 6, 14 and 15 (video, shown
    /// on screens as if it were sRGB), 4 and 5 (gamma 2.2 and 2.8), 8 (linear), 16 (PQ) and 18 (HLG).
    ///
    /// - Parameters:
    ///   - primaries: The number of the primaries: red, green and blue.
    ///   - transfer: The number of the curve, by which values become light.
    /// - Returns: The profile; nil when a number is none of these.
    static func coded(primaries: Int, transfer: Int) -> ColorProfile? {
        guard let colors = chromaticities(primaries) else { return nil }
        return coded(chromaticities: [0.3127, 0.3290] + colors, transfer: transfer)
    }

    /// A colour space by its colours (white, red, green, blue as x, y pairs) and the number of its curve; nil when the
    /// number is none of those above.
    static func coded(chromaticities values: [Double], transfer: Int) -> ColorProfile? {
        switch transfer {
        case 1, 6, 13, 14, 15: .primaries(values, gamma: 0)
        case 4: .primaries(values, gamma: 2.2)
        case 5: .primaries(values, gamma: 2.8)
        case 8: .primaries(values, gamma: 1)
        case 16: .highDynamicRange(values, .pq)
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

/// Curves whose values reach beyond the white of paper, and how they are brought into the range of a bitmap.
///
/// A bitmap ends at white, which with these curves is a light of 203 candela a square metre (ITU-R BT.2408): this
/// becomes 1, all that is darker keeps its proportion, all that is brighter becomes 1 as well. Lights lose their
/// detail, while faces and paper look as they do in an image of ordinary range.
enum HDRTransferFunction: Hashable {
    /// Perceptual quantizer, ITU-R BT.2100: values are absolute.
    case pq
    /// Hybrid log-gamma, ITU-R BT.2100: values are relative to a screen of 1000 candela a square metre.
    case hlg

    private static let white = 203.0

    /// The light (0…1) of a value in 0…1.
    func light(_ value: Double) -> Double { min(max(luminance(value) / Self.white, 0), 1) }

    /// `light` of values from 0 to 1.
    var samples: [Float] { (0..<4096).map { Float(light(Double($0) / 4095)) } }

    /// Candela a square metre.
    private func luminance(_ value: Double) -> Double {
        switch self {
        case .pq:
            let power = pow(value, 32.0 / 2523)
            return 10_000 * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 8192.0 / 1305)
        case .hlg:
            let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
            let scene = value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
            // The screen's own gamma, which strictly goes by the luminance of all three components together.
            return 1000 * pow(scene, 1.2)
        }
    }
}
