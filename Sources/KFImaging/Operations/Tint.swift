// One colour laid over a whole image.

import Foundation

extension Bitmap {
    /// A colour laid over this bitmap; transparent pixels are tinted too, so an opaque colour gives a rectangle.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func tinted(with color: Color, in space: WorkingSpace = .linear) throws(ImagingError) -> Bitmap {
        let tint = Tint(color, in: space)
        if tint.alpha == 0 { return self }
        let (blue, green, red) = (tint.table(of: tint.blue), tint.table(of: tint.green), tint.table(of: tint.red))
        guard hasAlpha else { return try mapped(blue: blue, green: green, red: red) }
        // Most pixels are opaque or transparent; of the others, many are like their neighbours.
        var (last, result) = (UInt32(0), tint.over(0))
        return try redrawn(hasAlpha: tint.alpha == 1 ? false : nil) { _, source, target in
            for x in 0..<width {
                let pixel = source[x]
                if pixel >> 24 == 255 {
                    target[x] =
                        0xFF00_0000 | UInt32(red[Int(pixel >> 16 & 0xFF)]) << 16
                        | UInt32(green[Int(pixel >> 8 & 0xFF)]) << 8 | UInt32(blue[Int(pixel & 0xFF)])
                } else {
                    if pixel != last { (last, result) = (pixel, tint.over(pixel)) }
                    target[x] = result
                }
            }
        }
    }
}

extension Alpha {
    /// One component divided by its alpha; without alpha, 0.
    static func straight(_ component: Int, alpha: Int) -> Int {
        alpha == 0 ? 0 : min(255, (component * 255 + alpha / 2) / alpha)
    }
}

/// A colour to lay over others, as numbers to calculate with.
private struct Tint {
    let red: Double
    let green: Double
    let blue: Double
    let alpha: Double
    private let space: WorkingSpace
    private let values: [Double]

    init(_ color: Color, in space: WorkingSpace) {
        // NaN counts as 0.
        func value(_ component: Double) -> Double {
            space.value(ofEncoded: component.isFinite ? component : component > 0 ? 1 : 0)
        }
        red = value(color.red)
        green = value(color.green)
        blue = value(color.blue)
        alpha = color.alpha > 0 ? min(color.alpha, 1) : 0
        self.space = space
        values = space.valuesOfBytes()
    }

    /// The results for each byte of a component of opaque pixels.
    func table(of component: Double) -> [UInt8] {
        values.map { space.byte(component * alpha + $0 * (1 - alpha)) }
    }

    /// The colour over one premultiplied pixel.
    func over(_ pixel: UInt32) -> UInt32 {
        let below = Int(pixel >> 24)
        let opacity = alpha + Double(below) / 255 * (1 - alpha)
        func byte(_ component: Double, shift: UInt32) -> UInt32 {
            let straight = Alpha.straight(Int(pixel >> shift & 0xFF), alpha: below)
            let light = component * alpha + values[straight] * Double(below) / 255 * (1 - alpha)
            return UInt32((space.encoded(light / opacity) * opacity * 255).rounded())
        }
        return UInt32((opacity * 255).rounded()) << 24 | byte(red, shift: 16) << 16 | byte(green, shift: 8) << 8
            | byte(blue, shift: 0)
    }
}
