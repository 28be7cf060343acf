// Finding the empty borders of an image.

extension Bitmap {
    /// The part of the image that is left without its empty edges: rows and columns that are transparent or of one
    /// colour, which is the colour of the upper left corner.
    ///
    /// - Parameter tolerance: By how much each component, premultiplied, may differ from emptiness, 0…1.
    /// - Returns: The part; nil when everything is empty.
    func trimmedRect(tolerance: Double) -> PixelRect? {
        let limit = Int32(tolerance * 255)
        var (left, right, top, bottom) = (width, -1, height, -1)
        var corner: UInt32 = 0
        func isEmpty(_ pixel: UInt32) -> Bool {
            Int32(pixel >> 24) <= limit || pixel.isNear(corner, within: limit)
        }
        forEachRow { y, row in
            if y == 0 { corner = row[0] }
            guard let first = (0..<width).first(where: { !isEmpty(row[$0]) }) else { return }
            top = min(top, y)
            bottom = y
            left = min(left, first)
            // Only pixels to the right of those found before can widen the result.
            var last = width - 1
            while last > max(right, first), isEmpty(row[last]) { last -= 1 }
            right = max(right, last)
        }
        guard right >= left else { return nil }
        return PixelRect(x: left, y: top, size: PixelSize(right - left + 1, bottom - top + 1))
    }
}

extension Bitmap {
    /// A copy of a part, as far as it is within the image; nil is all of it.
    func part(_ part: PixelRect?) throws(ImagingError) -> Bitmap {
        guard let part, part.x < width, part.y < height else { return self }
        let size = PixelSize(min(part.size.width, width - part.x), min(part.size.height, height - part.y))
        return try self.part(x: part.x, y: part.y, size)
    }
}

extension UInt32 {
    fileprivate func isNear(_ other: UInt32, within limit: Int32) -> Bool {
        func distance(_ shift: UInt32) -> Int32 { abs(Int32(self >> shift & 0xFF) - Int32(other >> shift & 0xFF)) }
        return distance(0) <= limit && distance(8) <= limit && distance(16) <= limit && distance(24) <= limit
    }
}
