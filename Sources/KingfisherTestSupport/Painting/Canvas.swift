// Pixels to draw on, and colours; for the images of demonstrations, tests and benchmarks.

package import KFImaging

/// A colour: blue, green, red and alpha from 0 to 1, premultiplied.
package typealias Paint = SIMD4<Float>

extension Paint {
    /// The opaque colour of a number such as `0x2F6EA5`.
    package init(_ hex: Int) {
        self.init(Float(hex & 255) / 255, Float(hex >> 8 & 255) / 255, Float(hex >> 16 & 255) / 255, 1)
    }

    /// The mixture with another colour; 0 is this one, 1 the other.
    package func mixed(with other: Paint, _ part: Float) -> Paint {
        self + (other - self) * Swift.min(Swift.max(part, 0), 1)
    }

    /// An opaque colour, brighter, or darker with a negative amount.
    package func lit(by amount: Float) -> Paint { self + Paint(amount, amount, amount, 0) }

    /// This colour over another one.
    package func over(_ below: Paint) -> Paint { self + below * (1 - w) }
}

/// A rectangle of pixels.
package struct Canvas {
    package let width: Int
    package let height: Int
    private var pixels: [SIMD4<UInt8>]

    /// A canvas of one colour.
    package init(width: Int, height: Int, color: Paint = .zero) {
        self.width = width
        self.height = height
        pixels = Array(repeating: Self.pixel(color), count: width * height)
    }

    /// Lays colours over a rectangle; parts beyond the edges are left out.
    ///
    /// `color` receives positions inside the rectangle, counted from its top left corner.
    package mutating func lay(x left: Int, y top: Int, width: Int, height: Int, _ color: (_ x: Int, _ y: Int) -> Paint)
    {
        for y in (top..<top + height).clamped(to: 0..<self.height) {
            for x in (left..<left + width).clamped(to: 0..<self.width) {
                let offset = y * self.width + x
                let below = Paint(pixels[offset]) / 255
                pixels[offset] = Self.pixel(color(x - left, y - top).over(below))
            }
        }
    }

    /// Lays an image over a rectangle of its size.
    package mutating func lay(x: Int, y: Int, _ bitmap: Bitmap) {
        bitmap.withUnsafeBytes { bytes in
            lay(x: x, y: y, width: bitmap.width, height: bitmap.height) { x, y in
                Paint(bytes.load(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: SIMD4<UInt8>.self)) / 255
            }
        }
    }

    /// The canvas as the library's image.
    package var image: Image {
        Image(
            cgImage: Bitmap(width: width, height: height) { rows, bytesPerRow in
                for y in 0..<height {
                    for x in 0..<width {
                        let pixel = pixels[y * width + x]
                        rows.storeBytes(of: pixel, toByteOffset: y * bytesPerRow + x * 4, as: SIMD4<UInt8>.self)
                    }
                }
            }
        )
    }

    private static func pixel(_ color: Paint) -> SIMD4<UInt8> {
        SIMD4<UInt8>((color.clamped(lowerBound: .zero, upperBound: .one) * 255).rounded(.toNearestOrEven))
    }
}

extension Image {
    /// An image made by a function of position; x and y count from the top left corner.
    package static func painted(width: Int, height: Int, _ color: (_ x: Int, _ y: Int) -> Paint) -> Image {
        var canvas = Canvas(width: width, height: height)
        canvas.lay(x: 0, y: 0, width: width, height: height, color)
        return canvas.image
    }
}
