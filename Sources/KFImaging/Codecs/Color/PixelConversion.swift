// From the pixels that decoders give to premultiplied sRGB.

/// The steps that make decoded pixels premultiplied sRGB.
struct PixelConversion {
    private enum Color {
        case sRGB
        case other(ColorTransform)
        case cmyk(inverted: Bool)
        case lab(LabConversion)
    }
    private let color: Color
    private let isStraight: Bool

    /// Pixels of some colour space (nil is sRGB), whose alpha may have to be multiplied in.
    init(color: ColorTransform? = nil, isStraight: Bool = false) {
        self.color = color.map(Color.other) ?? .sRGB
        self.isStraight = isStraight
    }

    /// Pixels as a profile describes them; inks without a usable one are mixed in the simplest way.
    init(_ profile: ColorProfile?, of pixels: ColorProfile.Pixels, isStraight: Bool) {
        let transform = profile?.transform(for: pixels)
        if case .cmyk(let isInverted) = pixels, transform == nil {
            self.color = .cmyk(inverted: isInverted)
        } else {
            self.color = transform.map(Color.other) ?? .sRGB
        }
        self.isStraight = isStraight
    }

    /// Pixels of b*, a*, L* and alpha, which may have to be multiplied in.
    init(lab: LabConversion, isStraight: Bool) {
        color = .lab(lab)
        self.isStraight = isStraight
    }

    /// Whether there is nothing to do.
    var isIdentity: Bool {
        if case .sRGB = color { !isStraight } else { false }
    }

    /// Converts one row in place.
    func apply(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        switch color {
        case .sRGB: break
        case .other(let transform): transform.apply(row, count: count)
        case .lab(let conversion): conversion.apply(row, count: count)
        case .cmyk(let inverted): Self.mix(row, count: count, inverted: inverted)
        }
        guard isStraight else { return }
        UnsafeMutableRawPointer(row).withMemoryRebound(to: UInt32.self, capacity: count) {
            Alpha.premultiply($0, count: count)
        }
    }

    /// (1 − C)(1 − K) and so on: cyan, magenta, yellow, black become blue, green, red, 255.
    private static func mix(_ bytes: UnsafeMutablePointer<UInt8>, count: Int, inverted: Bool) {
        let flip: UInt8 = inverted ? 0 : 255
        for i in 0..<count {
            let pixel = bytes + i * 4
            let (red, green, blue) = (pixel[0] ^ flip, pixel[1] ^ flip, pixel[2] ^ flip)
            let light = UInt32(pixel[3] ^ flip)
            pixel[0] = UInt8(truncatingIfNeeded: Alpha.multiply(UInt32(blue), light))
            pixel[1] = UInt8(truncatingIfNeeded: Alpha.multiply(UInt32(green), light))
            pixel[2] = UInt8(truncatingIfNeeded: Alpha.multiply(UInt32(red), light))
            pixel[3] = 255
        }
    }
}
