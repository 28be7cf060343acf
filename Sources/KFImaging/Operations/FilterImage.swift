// Pixels as numbers, for filters that users of the library write.

public import Foundation

/// An image as floating-point numbers: the input and the result of a filter.
///
/// Each pixel is a vector of red, green, blue and alpha. Colours are multiplied by alpha and are amounts of light, or
/// encoded sRGB when the ``workingSpace`` says so; they may leave 0…1 between two filters. A value never changes and
/// may be used from any thread.
public struct FilterImage: Sendable {
    /// The width in pixels, at least 1.
    public let width: Int
    /// The height in pixels, at least 1.
    public let height: Int
    /// The meaning of the components of pixels.
    public let workingSpace: WorkingSpace
    // SAFETY: written by the initialiser before any other code can see it, and never afterwards.
    private nonisolated(unsafe) let pixels: Buffer<SIMD4<Float>>

    /// The rectangle that the image covers, in pixels; its origin is zero.
    public var extent: CGRect { CGRect(x: 0, y: 0, width: width, height: height) }

    /// Makes every pixel with `fill`; nil for sides smaller than 1, for more bytes (16 a pixel) than the largest image
    /// takes that ``ImageDecodingLimits/default`` allows, and when there is not enough memory.
    ///
    /// - Parameters:
    ///   - width: The width in pixels.
    ///   - height: The height in pixels.
    ///   - workingSpace: The meaning of the components.
    ///   - fill: Gives the pixel at a place: red, green, blue, alpha, colours multiplied by alpha.
    public init?(
        width: Int,
        height: Int,
        workingSpace: WorkingSpace = .linear,
        fill: (_ x: Int, _ y: Int) -> SIMD4<Float>
    ) {
        let size = PixelSize(width, height)
        guard width > 0, height > 0,
            (try? ImageDecodingLimits.default.check(working: 4, size)) != nil,
            let pixels = try? Buffer<SIMD4<Float>>(size.pixelCount)
        else { return nil }
        for y in 0..<size.height {
            for x in 0..<size.width { pixels.base[y * size.width + x] = fill(x, y) }
        }
        self.pixels = pixels
        self.width = size.width
        self.height = size.height
        self.workingSpace = workingSpace
    }

    /// The pixel at a place; outside of the image, the nearest one at its edge.
    public subscript(x: Int, y: Int) -> SIMD4<Float> {
        defer { withExtendedLifetime(pixels) {} }
        return pixels.base[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
    }

    /// The image with every pixel changed on its own; nil when there is not enough memory.
    ///
    /// - Parameter transform: Gets and gives red, green, blue and alpha, colours multiplied by alpha.
    /// - Returns: The new image.
    public func mapPixels(_ transform: (SIMD4<Float>) -> SIMD4<Float>) -> FilterImage? {
        FilterImage(width: width, height: height, workingSpace: workingSpace) { x, y in transform(self[x, y]) }
    }
}

/// The name of this type in filters written for Core Image.
public typealias CIImage = FilterImage

extension FilterImage {
    /// A bitmap's pixels as numbers; nil when there is not enough memory.
    package init?(_ bitmap: Bitmap, in space: WorkingSpace) {
        let values = space.valuesOfBytes().map(Float.init)
        let filtered = bitmap.withUnsafeBytes { bytes in
            FilterImage(width: bitmap.width, height: bitmap.height, workingSpace: space) { x, y in
                let pixel = bytes.loadUnaligned(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self)
                let alpha = Int(pixel >> 24)
                func value(_ shift: UInt32) -> Float {
                    values[Alpha.straight(Int(pixel >> shift & 0xFF), alpha: alpha)] * Float(alpha) / 255
                }
                return SIMD4(value(16), value(8), value(0), Float(alpha) / 255)
            }
        }
        guard let filtered else { return nil }
        self = filtered
    }

    /// The pixels as bytes again.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func bitmap() throws(ImagingError) -> Bitmap {
        try Bitmap(PixelSize(width, height), hasAlpha: nil) { rows in
            for y in 0..<height {
                let row = rows.pixels(y)
                for x in 0..<width { row[x] = word(self[x, y]) }
            }
        }
    }

    private func word(_ pixel: SIMD4<Float>) -> UInt32 {
        // NaN counts as 0.
        let alpha = pixel.w > 0 ? min(Double(pixel.w), 1) : 0
        guard alpha > 0 else { return 0 }
        func byte(_ component: Float) -> UInt32 {
            UInt32((workingSpace.encoded(Double(component) / alpha) * alpha * 255).rounded())
        }
        return UInt32((alpha * 255).rounded()) << 24 | byte(pixel.x) << 16 | byte(pixel.y) << 8 | byte(pixel.z)
    }

    /// The same as ``Bitmap/adjusted(_:)``, without rounding or limits.
    package func adjusted(_ adjustment: ColorAdjustment) -> FilterImage? {
        let shares = ColorAdjustment.lumaOfRGB
        let luma = SIMD4(Float(shares.red), Float(shares.green), Float(shares.blue), 0) * Float(adjustment.luma)
        let (own, offset) = (Float(adjustment.own), Float(adjustment.offset))
        return mapPixels { pixel in
            // Colours are premultiplied: the offset has to be multiplied by alpha too.
            var result = pixel * own + ((pixel * luma).sum() + offset * pixel.w)
            result.w = pixel.w
            return result
        }
    }

    /// The same as ``Bitmap/tinted(with:in:)``, without rounding or limits.
    package func tinted(with color: Color) -> FilterImage? {
        let components = [color.red, color.green, color.blue].map { Float(workingSpace.value(ofEncoded: Double($0))) }
        let alpha = color.alpha > 0 ? Float(min(color.alpha, 1)) : 0
        let over = SIMD4(components[0], components[1], components[2], 1) * alpha
        return mapPixels { over + $0 * (1 - alpha) }
    }
}
