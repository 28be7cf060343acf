// L*a*b* to sRGB, for TIFF. lcms is off by dozens of steps in saturated colours, or else takes ten times as long.

/// The conversion of L*a*b* that relates to some white.
///
/// The white becomes that of sRGB, as the eye adapts to it (Bradford).
struct LabConversion {
    /// What the three numbers between L*a*b* and light contribute to red, green and blue.
    private let x, y, z: SIMD3<Float>

    private typealias Matrix = [[Double]]
    private static let coneResponse = [
        [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
    ]
    private static let fromConeResponse = [
        [0.9869929, -0.1470543, 0.1599627], [0.4323053, 0.5183603, 0.0492912], [-0.0085287, 0.0400428, 0.9684867],
    ]
    private static let fromXYZ = [
        [3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560], [0.0556434, -0.2040259, 1.0572252],
    ]

    /// The bytes for amounts of light, so many that neighbours are the same byte or the next one.
    private static let bytes = (0...steps).map { WorkingSpace.linear.byte(Double($0) / Double(steps)) }
    private static let steps = 1 << 14

    /// - Parameter white: The x and y of the white, both above 0, that white pixels stand for.
    init(white: (x: Double, y: Double)) {
        let whites = [white, (0.3127, 0.3290)].map { [$0.x / $0.y, 1, (1 - $0.x - $0.y) / $0.y].map { [$0] } }
        let cones = whites.map { Self.product(Self.coneResponse, $0) }
        let gains = zip(cones[1], cones[0]).map { $0[0] / $1[0] }
        let adapted = Self.product(
            Self.fromConeResponse,
            zip(gains, Self.coneResponse).map { gain, row in
                row.map { $0 * gain }
            }
        )
        let all = Self.product(Self.fromXYZ, adapted)
        func column(_ index: Int) -> SIMD3<Float> {
            SIMD3(all.map { Float($0[index] * whites[0][index][0]) })
        }
        (x, y, z) = (column(0), column(1), column(2))
    }

    /// Converts pixels of b*, a* (both plus 128), L* (255 is white) and alpha, in place, to BGRA.
    func apply(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        Self.bytes.withUnsafeBufferPointer { bytes in
            for index in 0..<count {
                let pixel = row + index * 4
                let middle = (Float(pixel[2]) * (100.0 / 255) + 16) / 116
                let light =
                    x * Self.light(middle + (Float(pixel[1]) - 128) / 500) + y * Self.light(middle)
                    + z * Self.light(middle - (Float(pixel[0]) - 128) / 200)
                let places = (light.clamped(lowerBound: .zero, upperBound: .one) * Float(Self.steps) + 0.5)
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

    private static func product(_ one: Matrix, _ other: Matrix) -> Matrix {
        one.map { row in
            other[0].indices.map { column in zip(row, other).reduce(0) { $0 + $1.0 * $1.1[column] } }
        }
    }
}
