// Straight and premultiplied colours, and opacity, in rows of pixels.

/// Conversions between straight and premultiplied pixels (0xAARRGGBB).
enum Alpha {
    /// a·b/255, rounded.
    @inline(__always)
    static func multiply(_ a: UInt32, _ b: UInt32) -> UInt32 {
        let t = a &* b &+ 128
        return (t &+ t &>> 8) &>> 8
    }

    /// Multiplies every colour with its alpha.
    static func premultiply(_ pixels: UnsafeMutablePointer<UInt32>, count: Int) {
        for i in 0..<count {
            let pixel = pixels[i]
            let alpha = pixel &>> 24
            if alpha == 255 { continue }
            let b = multiply(pixel & 0xFF, alpha)
            let g = multiply(pixel &>> 8 & 0xFF, alpha)
            let r = multiply(pixel &>> 16 & 0xFF, alpha)
            pixels[i] = alpha &<< 24 | r &<< 16 | g &<< 8 | b
        }
    }

    /// Copies pixels, dividing every colour by its alpha.
    ///
    /// Without alpha, the colour is black.
    static func unpremultiply(
        _ source: UnsafePointer<UInt32>,
        to target: UnsafeMutablePointer<UInt32>,
        count: Int
    ) {
        for i in 0..<count {
            let pixel = source[i]
            let alpha = pixel &>> 24
            if alpha == 255 {
                target[i] = pixel
                continue
            }
            guard alpha > 0 else {
                target[i] = 0
                continue
            }
            let half = alpha / 2
            let b = min(255, ((pixel & 0xFF) &* 255 &+ half) / alpha)
            let g = min(255, ((pixel &>> 8 & 0xFF) &* 255 &+ half) / alpha)
            let r = min(255, ((pixel &>> 16 & 0xFF) &* 255 &+ half) / alpha)
            target[i] = alpha &<< 24 | r &<< 16 | g &<< 8 | b
        }
    }

    /// Copies premultiplied pixels, laid over white.
    static func flattenOnWhite(
        _ source: UnsafePointer<UInt32>,
        to target: UnsafeMutablePointer<UInt32>,
        count: Int
    ) {
        for i in 0..<count {
            // Every component of a premultiplied pixel is at most its alpha, so no sum leaves its byte.
            target[i] = source[i] &+ (255 &- source[i] &>> 24) &* 0x0101_0101
        }
    }
}
