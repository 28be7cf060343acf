// A colour, and its stable text for cache identifiers.

public import Foundation

/// A colour in extended sRGB: components may leave 0…1 to name colours outside of sRGB.
public struct Color: Sendable, Hashable, CustomStringConvertible {
    /// The red component, 0…1 within sRGB.
    public let red: CGFloat
    /// The green component, 0…1 within sRGB.
    public let green: CGFloat
    /// The blue component, 0…1 within sRGB.
    public let blue: CGFloat
    /// The opacity: 0 is transparent, 1 opaque.
    public let alpha: CGFloat

    /// A colour from sRGB components.
    ///
    /// - Parameters:
    ///   - red: Red, 0…1 within sRGB.
    ///   - green: Green, 0…1 within sRGB.
    ///   - blue: Blue, 0…1 within sRGB.
    ///   - alpha: Opacity, 0…1.
    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// A grey.
    ///
    /// - Parameters:
    ///   - white: 0 is black, 1 is white.
    ///   - alpha: Opacity, 0…1.
    public init(white: CGFloat, alpha: CGFloat = 1) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    /// A colour from Display P3 components.
    ///
    /// The sRGB components that result may leave 0…1.
    ///
    /// - Parameters:
    ///   - displayP3Red: Red in Display P3.
    ///   - green: Green in Display P3.
    ///   - blue: Blue in Display P3.
    ///   - alpha: Opacity, 0…1.
    public init(displayP3Red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat = 1) {
        let (r, g, b) = (Self.linear(displayP3Red), Self.linear(green), Self.linear(blue))
        self.init(
            red: Self.encoded(1.2249402 * r - 0.2249402 * g),
            green: Self.encoded(-0.0420570 * r + 1.0420570 * g),
            blue: Self.encoded(-0.0196376 * r - 0.0786361 * g + 1.0982736 * b),
            alpha: alpha
        )
    }

    /// The same colour with another opacity.
    ///
    /// - Parameter alpha: Opacity, 0…1.
    /// - Returns: The colour.
    public func withAlphaComponent(_ alpha: CGFloat) -> Color {
        Color(red: red, green: green, blue: blue, alpha: alpha)
    }

    /// The components with two decimals: `(1.00,0.00,0.00,1.00)`.
    public var description: String { rgbaDescription }

    private static func linear(_ value: CGFloat) -> CGFloat {
        let v = abs(value)
        let result = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        return value < 0 ? -result : result
    }

    private static func encoded(_ value: CGFloat) -> CGFloat {
        let v = abs(value)
        let result = v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055
        return value < 0 ? -result : result
    }
}

extension Color {
    /// Opaque black.
    public static let black = Color(white: 0)
    /// Opaque white.
    public static let white = Color(white: 1)
    /// Transparent black.
    public static let clear = Color(white: 0, alpha: 0)
    /// Opaque red.
    public static let red = Color(red: 1, green: 0, blue: 0)
    /// Opaque green.
    public static let green = Color(red: 0, green: 1, blue: 0)
    /// Opaque blue.
    public static let blue = Color(red: 0, green: 0, blue: 1)
    /// Opaque cyan.
    public static let cyan = Color(red: 0, green: 1, blue: 1)
    /// Opaque magenta.
    public static let magenta = Color(red: 1, green: 0, blue: 1)
    /// Opaque yellow.
    public static let yellow = Color(red: 1, green: 1, blue: 0)
    /// Opaque orange.
    public static let orange = Color(red: 1, green: 0.5, blue: 0)
    /// Opaque purple.
    public static let purple = Color(red: 0.5, green: 0, blue: 0.5)
    /// Opaque brown.
    public static let brown = Color(red: 0.6, green: 0.4, blue: 0.2)
    /// Opaque middle grey.
    public static let gray = Color(white: 0.5)
    /// Opaque dark grey.
    public static let darkGray = Color(white: 1.0 / 3)
    /// Opaque light grey.
    public static let lightGray = Color(white: 2.0 / 3)
}

extension Color {
    /// The components, all at once.
    package var rgba: (r: CGFloat, g: CGFloat, b: CGFloat, a: CGFloat) { (red, green, blue, alpha) }

    /// The components with two decimals, whatever the locale: `(1.00,0.00,0.00,1.00)`.
    package var rgbaDescription: String {
        let texts = [red, green, blue, alpha].map { String(format: "%.2f", Double($0)) }
        return "(" + texts.joined(separator: ",") + ")"
    }

    /// The text that stands for the colour in a cache identifier.
    ///
    /// Two decimals do not distinguish neighbouring 8-bit colours, so colours with more decimals add their exact
    /// components.
    package var identifierText: String {
        let components = [red, green, blue, alpha]
        let isExact = components.allSatisfy { abs(Double($0) * 100 - (Double($0) * 100).rounded()) <= 1e-6 }
        if isExact { return rgbaDescription }
        return rgbaDescription + "_" + components.map(\.identifierText).joined(separator: ",")
    }
}

extension Color {
    /// The colour of a premultiplied pixel; a transparent one is transparent black.
    package init(premultipliedPixel pixel: UInt32) {
        let alpha = CGFloat(pixel >> 24)
        func component(_ byte: UInt32) -> CGFloat { alpha > 0 ? min(1, CGFloat(byte & 0xFF) / alpha) : 0 }
        self.init(
            red: component(pixel >> 16),
            green: component(pixel >> 8),
            blue: component(pixel),
            alpha: alpha / 255
        )
    }

    /// The premultiplied pixel, 0xAARRGGBB, that is nearest to the colour; components are limited to 0…1 first.
    package var premultipliedPixel: UInt32 {
        let bytes = premultipliedComponents.map { UInt32($0 + 0.5) }
        return bytes[3] << 24 | bytes[2] << 16 | bytes[1] << 8 | bytes[0]
    }

    /// Blue, green, red and alpha, each 0…255, not rounded, with alpha multiplied in; components are limited to 0…1.
    var premultipliedComponents: [Float] {
        let alpha = Float(self.alpha.clampedToUnit)
        return [blue, green, red].map { Float($0.clampedToUnit) * alpha * 255 } + [alpha * 255]
    }
}

extension CGFloat {
    /// The nearest number in 0…1; 0 for NaN.
    package var clampedToUnit: CGFloat { isNaN ? 0 : Swift.min(Swift.max(self, 0), 1) }
}
