// L*a*b* to sRGB, for TIFF. lcms is off by dozens of steps in saturated colours, or else takes ten times as long.

/// The conversion of L*a*b* that relates to some white.
///
/// The white becomes that of sRGB, as the eye adapts to it (Bradford).
struct LabConversion {
    /// What the three numbers between L*a*b* and light contribute to red, green and blue.
    private let x, y, z: SIMD3<Float>

    /// - Parameter white: The x and y of the white, both above 0, that white pixels stand for.
    init(white: (x: Double, y: Double)) {
        let light = LightMatrix.light(x: white.x, y: white.y)
        let matrix = (LightMatrix.fromXYZ * LightMatrix.adaptation(from: light)).scaled(by: light)
        (x, y, z) = (
            SIMD3<Float>(matrix.columns.0), SIMD3<Float>(matrix.columns.1), SIMD3<Float>(matrix.columns.2)
        )
    }

    /// Converts pixels of b*, a* (both plus 128), L* (255 is white) and alpha, in place, to BGRA.
    func apply(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        LightBytes.table.withUnsafeBufferPointer { bytes in
            for index in 0..<count {
                let pixel = row + index * 4
                let middle = (Float(pixel[2]) * (100.0 / 255) + 16) / 116
                let light =
                    x * Self.light(middle + (Float(pixel[1]) - 128) / 500) + y * Self.light(middle)
                    + z * Self.light(middle - (Float(pixel[0]) - 128) / 200)
                let places = (light.clamped(lowerBound: .zero, upperBound: .one) * Float(LightBytes.steps) + 0.5)
                pixel[2] = bytes[Int(places.x)]
                pixel[1] = bytes[Int(places.y)]
                pixel[0] = bytes[Int(places.z)]
            }
        }
    }

    /// The inverse of the curve by which L*a*b* is made of light.
    private static func light(_ value: Float) -> Float {
        value > 6.0 / 29 ? value * value * value : (value - 4.0 / 29) * (108.0 / 841)
    }
}
