// Code that operations on whole images share: row by row for bitmaps, upright for images.

import Foundation

extension Bitmap {
    /// A bitmap of this size; `draw` makes each of its rows from the same row of this bitmap.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    func redrawn(
        hasAlpha: Bool?,
        _ draw: (_ y: Int, _ source: UnsafePointer<UInt32>, _ target: UnsafeMutablePointer<UInt32>) -> Void
    ) throws(ImagingError) -> Bitmap {
        try withUnsafeBytes { bytes throws(ImagingError) in
            try Bitmap(size, hasAlpha: hasAlpha) { rows in
                guard let base = bytes.baseAddress else { return rows.fill() }
                for y in 0..<height {
                    draw(y, (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self), rows.pixels(y))
                }
            }
        }
    }

    /// Calls `read` with every row.
    func forEachRow(_ read: (_ y: Int, _ row: UnsafePointer<UInt32>) -> Void) {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            for y in 0..<height { read(y, (base + y * bytesPerRow).assumingMemoryBound(to: UInt32.self)) }
        }
    }
}

extension Image {
    /// The image that `draw` makes of the displayed image's pixels: scale kept, orientation `.up`.
    ///
    /// An animation gives a still of its first frame, even if nothing is drawn: whether the result is a still does not
    /// depend on the numbers of an operation.
    ///
    /// - Returns: The image; this one when it is empty, or a still that `draw` leaves unchanged; nil when `draw` fails
    ///   or there is not enough memory.
    func redrawn(_ draw: (Bitmap) throws(ImagingError) -> Bitmap) -> Image? {
        moved { bitmap, shownPart throws(ImagingError) in
            let result = try draw(bitmap)
            if result !== bitmap { shownPart = nil }
            return result
        }
    }

    /// A part of the displayed image, under the conditions of ``redrawn(_:)``.
    ///
    /// - Parameter find: The part, which is cut off at the edges; all of the image where that is nil.
    /// - Returns: The part.
    func cut(to find: (Bitmap) throws(ImagingError) -> PixelRect?) -> Image? {
        moved { bitmap, shownPart throws(ImagingError) in
            guard let rect = try find(bitmap) else { return bitmap }
            let result = try bitmap.part(rect)
            if result !== bitmap {
                shownPart = shownPart?.part(PixelRect(x: rect.x, y: rect.y, size: result.size), of: bitmap.size)
            }
            return result
        }
    }

    /// The image that `move` makes by moving the displayed image's pixels, under the conditions of ``redrawn(_:)``.
    ///
    /// - Parameter move: Given the pixels and the part of the file's image that they are; sets the part that the result
    ///   is.
    /// - Returns: The image.
    func moved(_ move: (Bitmap, inout ShownPart?) throws(ImagingError) -> Bitmap) -> Image? {
        guard cgImage != nil else { return self }
        do throws(ImagingError) {
            guard let bitmap = try upright().cgImage else { return self }
            var shownPart = shownPart
            let result = try move(bitmap, &shownPart)
            return result === cgImage ? still : derived(result, shows: shownPart)
        } catch {
            return nil
        }
    }

    /// The image without the metadata of an animation; the image itself when there is none.
    var still: Image {
        let metadata = metadata
        let isMoving = isAnimated || metadata.animatedData != nil || metadata.frameCount != nil
        guard isMoving, let cgImage else { return self }
        return derived(cgImage, orientation: imageOrientation, shows: shownPart)
    }

    /// A length in points as pixels; 0 for NaN.
    func pixels(_ points: CGFloat) -> Double {
        let length = Double(points * scale)
        return length.isFinite ? length : 0
    }
}

extension SIMD4<Float> {
    /// The components of a pixel 0xAARRGGBB, 0…255: blue, green, red, alpha.
    @inline(__always)
    init(pixel: UInt32) {
        // One by one: the conversion of whole vectors is not made for speed.
        self.init(
            Float(pixel & 0xFF),
            Float(pixel &>> 8 & 0xFF),
            Float(pixel &>> 16 & 0xFF),
            Float(pixel &>> 24)
        )
    }

    /// The pixel 0xAARRGGBB with these components, rounded; they must be about 0…255.
    @inline(__always)
    var pixel: UInt32 {
        let rounded = (self + 0.5).clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        return UInt32(rounded.w) &<< 24 | UInt32(rounded.z) &<< 16 | UInt32(rounded.y) &<< 8 | UInt32(rounded.x)
    }
}
