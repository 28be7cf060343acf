// The colours of an image: at a point, in a rectangle, on average, the most frequent one, and whether there are few.

package import Foundation

extension Image {
    /// The colour at a point of the displayed image.
    ///
    /// - Parameter point: In points, from the top left corner.
    /// - Returns: The colour; nil outside of the image.
    package func color(at point: CGPoint) -> Color? {
        let (x, y) = ((point.x * scale).rounded(.down), (point.y * scale).rounded(.down))
        return colors(inPixels: CGRect(x: x, y: y, width: 1, height: 1)).first
    }

    /// The colours inside a rectangle of the displayed image.
    ///
    /// - Parameter rect: In points; made integral outwards in pixels and cut at the edges.
    /// - Returns: The colours, row by row; none when the rectangle is all outside.
    package func colors(in rect: CGRect) -> [Color] {
        let (origin, size) = (rect.origin, rect.size)
        return colors(
            inPixels: CGRect(
                x: origin.x * scale,
                y: origin.y * scale,
                width: size.width * scale,
                height: size.height * scale
            )
        )
    }

    private func colors(inPixels rect: CGRect) -> [Color] {
        guard let bitmap = cgImage else { return [] }
        let display = imageOrientation.isTransposing ? bitmap.size.transposed : bitmap.size
        guard let part = Geometry.pixelRect(rect, within: display) else { return [] }
        let walk = imageOrientation.walk(through: bitmap.size)
        return bitmap.withUnsafeBytes { bytes in
            (part.y..<part.y + part.size.height).flatMap { y in
                (part.x..<part.x + part.size.width).map { x in
                    let column = walk.start.x + x * walk.dx.x + y * walk.dy.x
                    let row = walk.start.y + x * walk.dx.y + y * walk.dy.y
                    let offset = row * bitmap.bytesPerRow + column * 4
                    return Color(premultipliedPixel: bytes.load(fromByteOffset: offset, as: UInt32.self))
                }
            }
        }
    }

    /// The mean of all colours, each weighted with its alpha; its own alpha is the mean alpha.
    ///
    /// Nil for the empty image.
    package var averageColor: Color? { cgImage?.averageColor }

    /// The mean of the most frequent colours, where colours are distinguished by the upper five bits of each component.
    ///
    /// Nil when no pixel is at least half opaque, and when there is not enough memory.
    package var dominantColor: Color? { (try? cgImage?.dominantColor()) ?? nil }
}

extension Bitmap {
    fileprivate var averageColor: Color {
        var total = ColorSum()
        forEachRow { _, row in total.add(row, count: width) }
        return total.mean(of: width * height)
    }

    fileprivate func dominantColor() throws(ImagingError) -> Color? {
        let bins = try Buffer<SIMD4<UInt64>>(1 << 15)
        bins.base.update(repeating: .zero, count: bins.count)
        forEachRow { _, row in
            for x in 0..<width {
                let pixel = row[x]
                let alpha = pixel >> 24
                guard alpha >= 128 else { continue }
                func straight(_ shift: UInt32) -> UInt32 {
                    min(255, ((pixel >> shift & 0xFF) * 255 + alpha / 2) / alpha)
                }
                let (r, g, b) = (straight(16), straight(8), straight(0))
                bins.base[Int((r >> 3) << 10 | (g >> 3) << 5 | b >> 3)] &+= SIMD4(UInt64(r), UInt64(g), UInt64(b), 1)
            }
        }
        var fullest = bins.base[0]
        for i in 1..<bins.count where bins.base[i].w > fullest.w { fullest = bins.base[i] }
        guard fullest.w > 0 else { return nil }
        let whole = CGFloat(fullest.w) * 255
        return Color(
            red: CGFloat(fullest.x) / whole,
            green: CGFloat(fullest.y) / whole,
            blue: CGFloat(fullest.z) / whole
        )
    }
}

/// The sum of premultiplied pixels.
private struct ColorSum {
    private var sum = SIMD4<UInt64>.zero

    mutating func add(_ row: UnsafePointer<UInt32>, count: Int) {
        for x in 0..<count {
            let pixel = row[x]
            sum &+= SIMD4(
                UInt64(pixel & 0xFF),
                UInt64(pixel >> 8 & 0xFF),
                UInt64(pixel >> 16 & 0xFF),
                UInt64(pixel >> 24)
            )
        }
    }

    func mean(of count: Int) -> Color {
        guard sum.w > 0 else { return .clear }
        let alpha = CGFloat(sum.w)
        return Color(
            red: min(1, CGFloat(sum.z) / alpha),
            green: min(1, CGFloat(sum.y) / alpha),
            blue: min(1, CGFloat(sum.x) / alpha),
            alpha: alpha / (255 * CGFloat(count))
        )
    }
}

extension Bitmap {
    /// Whether there are no more than 256 different pixels, transparent ones counted as one.
    var hasFewColors: Bool { hasColors(atMost: 256) }

    /// Whether coding it without loss may be smaller.
    ///
    /// That takes 16 colours at most; or few, and most pixels like the one before, as in drawings and on screens. Grey
    /// photos have few colours, too.
    var isLikeDrawing: Bool { hasFewColors && (hasColors(atMost: 16) || repeatsPixels) }

    private func hasColors(atMost limit: Int) -> Bool {
        var colors: Set<UInt32> = []
        var last: UInt32?
        return allRows { row in
            // Neighbours are mostly equal where colours are few.
            for pixel in row where pixel != last {
                last = pixel
                colors.insert(pixel)
                if colors.count > limit { return false }
            }
            return true
        }
    }

    private var repeatsPixels: Bool {
        var count = 0
        _ = allRows { row in
            count += zip(row, row.dropFirst()).count { $0 == $1 }
            return true
        }
        return 2 * count > (width - 1) * height
    }

    /// Calls a function with each row until it returns false; whether none did.
    private func allRows(_ body: (UnsafeBufferPointer<UInt32>) -> Bool) -> Bool {
        withUnsafeBytes { bytes in
            (0..<height).allSatisfy { y in
                let row = UnsafeRawBufferPointer(rebasing: bytes[(y * bytesPerRow)...].prefix(width * 4))
                return body(row.bindMemory(to: UInt32.self))
            }
        }
    }
}
