// Finding the part of an image that people look at, by simple rules about pixels.

extension Bitmap {
    /// The most interesting part of a size; sides longer than the image's are limited to these.
    ///
    /// A copy of at most 128 pixels a side is judged: every pixel by the detail around it, its saturation and how much
    /// its hue is that of skin. The window with the highest sum wins; one in which the interesting things are off the
    /// middle counts up to a fifth less. Among equals the one closest to the image's centre is taken. The same
    /// image always gives the same part.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func smartCropRect(of target: PixelSize) throws(ImagingError) -> PixelRect {
        let part = PixelSize(min(target.width, width), min(target.height, height))
        guard part != size else { return PixelRect(x: 0, y: 0, size: size) }
        let map = try SaliencyMap(try resampled(to: Geometry.thumbnail(of: size, limit: 128), filter: .bilinear))
        func scaled(_ length: Int, _ from: Int, _ to: Int) -> Int {
            Int((Double(length) * Double(to) / Double(from)).rounded())
        }
        let window = PixelSize(
            scaled(part.width, width, map.size.width),
            scaled(part.height, height, map.size.height)
        )
        let best = map.bestWindow(window)
        func place(_ position: Int, of free: Int, on space: Int) -> Int {
            free > 0 ? scaled(position, free, space) : space / 2
        }
        return PixelRect(
            x: place(best.x, of: map.size.width - window.width, on: width - part.width),
            y: place(best.y, of: map.size.height - window.height, on: height - part.height),
            size: part
        )
    }
}

/// How interesting the parts of a small image are.
private struct SaliencyMap {
    let size: PixelSize
    /// For each point the sum over all pixels above and left of it, of interest, interest · x and interest · y.
    private let sums: Buffer<SIMD4<Double>>

    init(_ bitmap: Bitmap) throws(ImagingError) {
        let (width, height) = (bitmap.width, bitmap.height)
        let light = try Buffer<Float>(width * height)
        let colors = try Buffer<Float>(width * height)
        size = bitmap.size
        sums = try Buffer((width + 1) * (height + 1))
        bitmap.forEachRow { y, row in
            for x in 0..<width {
                let pixel = PixelSaliency(row[x])
                light.base[y * width + x] = pixel.light
                colors.base[y * width + x] = pixel.colorInterest
            }
        }
        sums.base.update(repeating: .zero, count: sums.count)
        for y in 0..<height {
            var line = SIMD4<Double>.zero
            for x in 0..<width {
                let interest = Double(Self.detail(light.base, x, y, size) + colors.base[y * width + x])
                line += SIMD4(1, Double(x) + 0.5, Double(y) + 0.5, 0) * interest
                sums.base[(y + 1) * (width + 1) + x + 1] = sums.base[y * (width + 1) + x + 1] + line
            }
        }
    }

    /// How much a pixel differs from its four neighbours.
    private static func detail(_ light: UnsafePointer<Float>, _ x: Int, _ y: Int, _ size: PixelSize) -> Float {
        let (left, right) = (max(x - 1, 0), min(x + 1, size.width - 1))
        let (up, down) = (max(y - 1, 0), min(y + 1, size.height - 1))
        let row = y * size.width
        let around = light[row + left] + light[row + right] + light[up * size.width + x] + light[down * size.width + x]
        return min(1, abs(4 * light[row + x] - around))
    }

    func bestWindow(_ window: PixelSize) -> (x: Int, y: Int) {
        var best = (x: 0, y: 0, value: -1.0, distance: Double.infinity)
        for y in 0...max(0, size.height - window.height) {
            for x in 0...max(0, size.width - window.width) {
                let value = self.value(x, y, window)
                let (dx, dy) = (2 * x + window.width - size.width, 2 * y + window.height - size.height)
                let distance = Double(dx * dx + dy * dy)
                // Sums of the same numbers in another order differ in the last digits.
                let margin = 1e-9 * max(1, best.value)
                if value > best.value + margin || value > best.value - margin && distance < best.distance {
                    best = (x, y, value, distance)
                }
            }
        }
        return (best.x, best.y)
    }

    private func value(_ x: Int, _ y: Int, _ window: PixelSize) -> Double {
        let stride = size.width + 1
        let (right, bottom) = (min(x + window.width, size.width), min(y + window.height, size.height))
        let corners = sums.base
        let sum =
            corners[bottom * stride + right] - corners[y * stride + right] - corners[bottom * stride + x]
            + corners[y * stride + x]
        guard sum.x > 1e-9 else { return 0 }
        let halves = (x: Double(right - x) / 2, y: Double(bottom - y) / 2)
        let off = (x: sum.y / sum.x - Double(x) - halves.x, y: sum.z / sum.x - Double(y) - halves.y)
        let share = (off.x * off.x + off.y * off.y) / (halves.x * halves.x + halves.y * halves.y)
        return sum.x * (1 - 0.2 * share.squareRoot())
    }
}

/// The values of a single pixel.
private struct PixelSaliency {
    /// How bright it is, 0…1; transparent pixels are black.
    let light: Float
    /// How much its colour draws attention.
    let colorInterest: Float

    init(_ pixel: UInt32) {
        let (r, g, b) = (Float(pixel >> 16 & 0xFF) / 255, Float(pixel >> 8 & 0xFF) / 255, Float(pixel & 0xFF) / 255)
        light = 0.2126 * r + 0.7152 * g + 0.0722 * b
        let (most, least) = (max(r, g, b), min(r, g, b))
        let chroma = most - least
        let saturation = 0.3 * max(0, chroma - 0.3)
        guard chroma > 0, most == r, g >= b, most > 0.2 else {
            colorInterest = saturation
            return
        }
        // Skin, whatever its shade, is between red and orange and neither grey nor garish.
        let hue = 60 * (g - b) / chroma
        let depth = chroma / most
        let skin = depth > 0.2 && depth < 0.8 ? max(0, 1 - abs(hue - 25) / 20) : 0
        colorInterest = saturation + 0.4 * skin
    }
}
