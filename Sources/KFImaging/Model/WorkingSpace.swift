// The two meanings of numbers when colours are mixed: light, or encoded sRGB.

import Foundation

/// The numbers that colours are mixed in.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum WorkingSpace: Sendable, Hashable, CaseIterable {
    /// Amounts of light, as in the world outside and in Core Image; the default.
    case linear
    /// The numbers that image files hold, which are spread as the eye sees them.
    case encoded

    /// The number to calculate with for a component of an sRGB colour; the sign is kept.
    func value(ofEncoded component: Double) -> Double {
        guard self == .linear else { return component }
        let size = abs(component)
        return copysign(size <= 0.04045 ? size / 12.92 : pow((size + 0.055) / 1.055, 2.4), component)
    }

    /// The component of an sRGB colour, limited to 0…1, for a number that was calculated.
    func encoded(_ value: Double) -> Double {
        // Written so that NaN becomes 0.
        let size = value > 0 ? min(value, 1) : 0
        guard self == .linear else { return size }
        return size <= 0.0031308 ? size * 12.92 : 1.055 * pow(size, 1 / 2.4) - 0.055
    }

    /// The same as a byte.
    func byte(_ value: Double) -> UInt8 { UInt8((encoded(value) * 255).rounded()) }

    /// The numbers for the bytes 0…255.
    func valuesOfBytes() -> [Double] { (0...255).map { value(ofEncoded: Double($0) / 255) } }
}
