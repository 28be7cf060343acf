// The curves of high dynamic range, by which values become light. Used by ToneMapping.

import Foundation

/// A curve of ITU-R BT.2100.
enum HDRTransferFunction: Hashable {
    /// Perceptual quantizer, whose values are absolute.
    ///
    /// `peak` is the brightest light of the image in candela a square metre, as far as that is known.
    case pq(peak: Double)
    /// Hybrid log-gamma, whose values are shares of what a screen can do.
    ///
    /// A screen of 1,000 candela a square metre is assumed.
    case hlg

    /// The peak of images that state none: most screens on which they are made have it.
    static let usualPeak = 1000.0

    /// Candela a square metre that a light of 1 is.
    var unit: Double {
        switch self {
        case .pq: 10_000
        case .hlg: 1000
        }
    }

    /// The brightest light, in candela a square metre.
    var peak: Double {
        switch self {
        case .pq(let peak): peak
        case .hlg: Self.usualPeak
        }
    }

    /// The light of a value, both 0…1: light of the screen, or of the scene with hybrid log-gamma.
    func light(_ value: Double) -> Double {
        switch self {
        case .pq: return Self.pqLight(value)
        case .hlg:
            let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
            return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
        }
    }

    /// The factor from the light of the scene to the light of the screen, by the luminance of the scene, 0…1; nil where
    /// both are the same light.
    ///
    /// It is the system gamma of 1.2 of a screen of 1,000 candela a square metre.
    var systemGain: ((_ luminance: Double) -> Double)? {
        switch self {
        case .pq: nil
        case .hlg: { pow($0, 0.2) }
        }
    }

    /// The light, as a share of 10,000 candela a square metre, of a value of the perceptual quantizer.
    static func pqLight(_ value: Double) -> Double {
        let power = pow(value, 32.0 / 2523)
        return pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 8192.0 / 1305)
    }

    /// The value of the perceptual quantizer for such a light.
    static func pqValue(_ light: Double) -> Double {
        let power = pow(max(light, 0), 1305.0 / 8192)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 2523.0 / 32)
    }
}
