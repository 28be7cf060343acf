// Windows icons and cursors: a directory of images, of which the largest is shown. PNG and BMP decode them.

import Foundation

enum ICOCodec: ImageCodec {
    static let contentType = ImageContentType.ico

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let entry = try ICOEntry.largest(bytes)
        var info = ImageInfo(contentType: contentType, size: entry.size, byteCount: bytes.count)
        info.hasAlpha = true
        if case .png = entry.content {
            let own = try PNGCodec.info(entry.bytes)
            (info.hasAlpha, info.orientation) = (own.hasAlpha, own.orientation)
            info.colorProfileName = own.colorProfileName
        }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let entry = try ICOEntry.largest(bytes)
        switch entry.content {
        case .png:
            var decoded = try PNGCodec.decode(entry.bytes, options)
            // Whatever the PNG is, the icon is a still.
            decoded.frameCount = nil
            return decoded
        case .bmp(let header):
            try options.limits.check(width: header.size.width, height: header.size.height)
            let reader = try BMPReader(entry.bytes, header, isMasked: true)
            guard !reader.isEmpty else { throw .malformed(contentType, detail: "the data ends before the first row") }
            return DecodedImage(
                bitmap: try reader.bitmap(of: options.target(for: header.size)),
                isDamaged: !reader.isComplete
            )
        }
    }
}

/// One of the images in an icon.
private struct ICOEntry {
    enum Content {
        case png
        case bmp(BMPHeader)
    }
    /// From the image's first byte to the end of the file: the lengths in the directory are sometimes wrong.
    let bytes: UnsafeRawBufferPointer
    let content: Content
    let size: PixelSize
    /// Bits a pixel.
    let depth: Int

    /// The image with the most pixels, or bits in them; those with broken headers do not count.
    ///
    /// The images' own headers decide: the directory can declare no side above 256, and no depth for cursors.
    static func largest(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ICOEntry {
        var largest: ICOEntry?
        for index in 0..<min(bytes.littleEndian(4, 2) ?? 0, (bytes.count - 6) / 16) {
            guard let offset = bytes.littleEndian(6 + index * 16 + 12, 4), offset < bytes.count,
                let entry = ICOEntry(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            else { continue }
            if let known = largest, (known.size.pixelCount, known.depth) >= (entry.size.pixelCount, entry.depth) {
                continue
            }
            largest = entry
        }
        guard let largest else { throw .malformed(.ico, detail: "it holds no image") }
        return largest
    }

    private init?(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        if ImageContentType.sniff(bytes) == .png {
            guard bytes.count >= 26 else { return nil }
            func number(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
            content = .png
            size = PixelSize(number(16), number(20))
            depth = Int(bytes[24]) * ([2: 3, 4: 2, 6: 4][bytes[25]] ?? 1)
        } else {
            guard let header = try? BMPHeader(icon: bytes) else { return nil }
            content = .bmp(header)
            (size, depth) = (header.size, header.depth)
        }
    }
}
