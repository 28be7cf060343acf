// The bytes of sRGB for amounts of light. Used by the conversions that lcms does not do.

import CKFCodecs

/// A table of bytes for light from 0 to 1, fine enough that neighbouring entries differ by one at most.
enum LightBytes {
    static let steps = Int(KF_LIGHT_STEPS)
    static let table = (0...steps).map { WorkingSpace.linear.byte(Double($0) / Double(steps)) }
}
