// The bytes of sRGB for amounts of light. Used by the conversions that lcms does not do.

import CKFCodecs

/// The bytes for amounts of light from 0 to 1, so many that neighbours are the same byte or the next one.
enum LightBytes {
    static let steps = Int(KF_LIGHT_STEPS)
    static let table = (0...steps).map { WorkingSpace.linear.byte(Double($0) / Double(steps)) }
}
