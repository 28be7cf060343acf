// Amounts of light: matrices between their colour spaces, and their bytes of sRGB. Used by the conversions that lcms
// does not do (L*a*b*, high dynamic range), and by sharpening in lightness.

import CKFCodecs

/// A linear map of three amounts of light to three others.
struct LightMatrix {
    /// What each of the three amounts contributes.
    var columns: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)

    init(_ first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
        columns = (first, second, third)
    }

    private init(rows first: SIMD3<Double>, _ second: SIMD3<Double>, _ third: SIMD3<Double>) {
        self.init(first, second, third)
        self = transposed
    }

    static func * (matrix: LightMatrix, light: SIMD3<Double>) -> SIMD3<Double> {
        matrix.columns.0 * light.x + matrix.columns.1 * light.y + matrix.columns.2 * light.z
    }

    static func * (one: LightMatrix, other: LightMatrix) -> LightMatrix {
        LightMatrix(one * other.columns.0, one * other.columns.1, one * other.columns.2)
    }

    /// The same with each amount multiplied first.
    func scaled(by factors: SIMD3<Double>) -> LightMatrix {
        LightMatrix(columns.0 * factors.x, columns.1 * factors.y, columns.2 * factors.z)
    }

    private var transposed: LightMatrix {
        let (a, b, c) = columns
        return LightMatrix([a.x, b.x, c.x], [a.y, b.y, c.y], [a.z, b.z, c.z])
    }

    /// Nil for amounts that are not independent.
    var inverse: LightMatrix? {
        let (a, b, c) = columns
        let volume = Self.product(a, Self.cross(b, c))
        guard abs(volume) > 1e-9 else { return nil }
        return LightMatrix(
            rows: Self.cross(b, c) / volume,
            Self.cross(c, a) / volume,
            Self.cross(a, b) / volume
        )
    }

    private static func product(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
}

extension LightMatrix {
    /// From XYZ with sRGB's white to sRGB's red, green and blue, in linear light.
    static let fromXYZ = LightMatrix(
        rows: [3.2404542, -1.5371385, -0.4985314],
        [-0.9692660, 1.8760108, 0.0415560],
        [0.0556434, -0.2040259, 1.0572252]
    )

    private static let coneResponse = LightMatrix(
        rows: [0.8951, 0.2664, -0.1614],
        [-0.7502, 1.7135, 0.0367],
        [0.0389, -0.0685, 1.0296]
    )
    private static let fromConeResponse = LightMatrix(
        rows: [0.9869929, -0.1470543, 0.1599627],
        [0.4323053, 0.5183603, 0.0492912],
        [-0.0085287, 0.0400428, 0.9684867]
    )

    /// XYZ of a colour of luminance 1 by its x and y, which is above 0.
    static func light(x: Double, y: Double) -> SIMD3<Double> { SIMD3(x / y, 1, (1 - x - y) / y) }

    /// From XYZ with another white to XYZ with sRGB's white, as the eye adapts (Bradford).
    static func adaptation(from white: SIMD3<Double>) -> LightMatrix {
        let gains = (coneResponse * light(x: 0.3127, y: 0.3290)) / (coneResponse * white)
        return fromConeResponse * LightMatrix([gains.x, 0, 0], [0, gains.y, 0], [0, 0, gains.z]) * coneResponse
    }

    /// From red, green and blue in linear light to XYZ; 1, 1, 1 is white.
    ///
    /// - Parameter chromaticities: White, red, green, blue as x, y pairs.
    /// - Returns: The matrix; nil when these are no three colours.
    static func toXYZ(chromaticities: [Double]) -> LightMatrix? {
        guard chromaticities.count == 8, stride(from: 1, to: 8, by: 2).allSatisfy({ chromaticities[$0] > 0 }) else {
            return nil
        }
        let lights = stride(from: 0, to: 8, by: 2).map { light(x: chromaticities[$0], y: chromaticities[$0 + 1]) }
        let colors = LightMatrix(lights[1], lights[2], lights[3])
        return colors.inverse.map { colors.scaled(by: $0 * lights[0]) }
    }
}

/// A table of bytes for light from 0 to 1, fine enough that neighbouring entries differ by one at most.
enum LightBytes {
    static let steps = Int(KF_LIGHT_STEPS)
    static let table = (0...steps).map { WorkingSpace.linear.byte(Double($0) / Double(steps)) }
}
