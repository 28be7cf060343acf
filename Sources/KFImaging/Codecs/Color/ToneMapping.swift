// Colours of high dynamic range as sRGB: what is brighter than white is brought below it. Used by ColorTransform.

import CKFCodecs

/// The conversion of BGRA whose light reaches beyond the white of paper.
///
/// A bitmap ends at white, which is a light of 203 candela a square metre (ITU-R BT.2408). Light of up to some 90 keeps
/// its amount, so that faces look as they do in an image of ordinary range; what is brighter is compressed by the curve
/// of ITU-R BT.2390, so that the brightest light of the image becomes white. Light beyond that is white, too. The
/// brightest of the three components decides by how much a pixel is darkened, so its hue stays and greys stay grey.
/// Colours that sRGB does not have become the nearest by component.
struct ToneMapping {
    private static let white = 203.0

    private let light, systemGains, gains: [Float]
    private let luminance: SIMD3<Double>
    private let matrix: LightMatrix

    /// Nil when the chromaticities are not those of three colours.
    ///
    /// - Parameters:
    ///   - chromaticities: White, red, green, blue as x, y pairs.
    ///   - curve: The curve by which values become light.
    init?(chromaticities: [Double], _ curve: HDRTransferFunction) {
        guard let toXYZ = LightMatrix.toXYZ(chromaticities: chromaticities) else { return nil }
        let white = LightMatrix.light(x: chromaticities[0], y: chromaticities[1])
        matrix = LightMatrix.fromXYZ * LightMatrix.adaptation(from: white) * toXYZ
        luminance = SIMD3(toXYZ.columns.0.y, toXYZ.columns.1.y, toXYZ.columns.2.y)
        light = (0...255).map { Float(curve.light(Double($0) / 255)) }
        let compression = Compression(peak: curve.peak, white: Self.white)
        gains = Self.table { light in
            light > 0 ? compression.apply(light * curve.unit) / (light * Self.white) : curve.unit / Self.white
        }
        systemGains = curve.systemGain.map { gain in Self.table(gain) } ?? []
    }

    /// Factors by the fourth root of light, which is about as fine as the eye sees everywhere.
    private static func table(_ factor: (_ light: Double) -> Double) -> [Float] {
        (0...Int(KF_TONE_STEPS)).map { step in
            let root = Double(step) / Double(KF_TONE_STEPS)
            return Float(factor(root * root * root * root))
        }
    }

    /// Converts pixels in place; alpha is kept.
    func apply(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        func three(_ values: SIMD3<Double>) -> (Float, Float, Float) {
            (Float(values.x), Float(values.y), Float(values.z))
        }
        light.withUnsafeBufferPointer { light in
            systemGains.withUnsafeBufferPointer { systemGains in
                gains.withUnsafeBufferPointer { gains in
                    LightBytes.table.withUnsafeBufferPointer { bytes in
                        var mapping = kf_tone_mapping(
                            light: light.baseAddress,
                            system_gains: systemGains.isEmpty ? nil : systemGains.baseAddress,
                            luminance: three(luminance),
                            gains: gains.baseAddress,
                            red: three(matrix.columns.0),
                            green: three(matrix.columns.1),
                            blue: three(matrix.columns.2),
                            bytes: bytes.baseAddress
                        )
                        kf_map_tones(&mapping, pixels, count)
                    }
                }
            }
        }
    }
}

extension ToneMapping {
    /// The curve of ITU-R BT.2390-10, section 5.4: it bends where 1.5 · white − 0.5 is, all as shares of the peak in
    /// values of the perceptual quantizer, and ends at white.
    fileprivate struct Compression {
        private let peak, white, bend: Double

        /// - Parameters: The brightest light there is, and the brightest that can be shown, in candela a square metre.
        init(peak: Double, white: Double) {
            self.peak = HDRTransferFunction.pqValue(max(peak, white) / 10_000)
            self.white = HDRTransferFunction.pqValue(white / 10_000) / self.peak
            bend = 1.5 * self.white - 0.5
        }

        /// The light to be shown, in candela a square metre.
        func apply(_ light: Double) -> Double {
            let value = min(HDRTransferFunction.pqValue(light / 10_000) / peak, 1)
            guard value > bend, bend < 1 else { return 10_000 * HDRTransferFunction.pqLight(value * peak) }
            let t = (value - bend) / (1 - bend)
            let (t2, t3) = (t * t, t * t * t)
            let mapped =
                (2 * t3 - 3 * t2 + 1) * bend + (t3 - 2 * t2 + t) * (1 - bend) + (3 * t2 - 2 * t3) * white
            return 10_000 * HDRTransferFunction.pqLight(mapped * peak)
        }
    }
}
