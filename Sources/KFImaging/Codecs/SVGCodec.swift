// SVG: drawn at the size that is asked for, or its own. Built in with the trait of that name only.

#if SVG
import CKFCodecs
import Foundation

enum SVGCodec: ImageCodec {
    static let contentType = ImageContentType.svg

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let drawing = try Drawing(bytes, .default)
        var info = ImageInfo(contentType: contentType, size: drawing.size(longerSide: nil), byteCount: bytes.count)
        info.hasAlpha = true
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedPicture {
        let drawing = try Drawing(bytes, options.limits)
        let size = drawing.size(longerSide: options.maxPixelSize)
        try options.limits.check(width: size.width, height: size.height)
        return DecodedPicture(bitmap: try drawing.bitmap(size))
    }
}

/// An open drawing.
private final class Drawing {
    private let handle: OpaquePointer
    private let width: Double
    private let height: Double

    init(_ bytes: UnsafeRawBufferPointer, _ limits: ImageDecodingLimits) throws(ImagingError) {
        var references = SVGReferences(limits: limits)
        try references.check(Data(bytes))
        var (width, height, message) = (0.0, 0.0, kf_message())
        guard let handle = kf_svg_open(bytes.start, bytes.count, &width, &height, &message) else {
            throw message.error(decoding: .svg)
        }
        self.handle = handle
        self.width = width
        self.height = height
    }

    deinit { kf_svg_close(handle) }

    /// The size in pixels, with the given longer side (which may enlarge: a drawing loses nothing) or its own.
    func size(longerSide: Int?) -> PixelSize {
        let own = max(width, height)
        let scale = longerSide.map { $0 > 0 && own.isFinite ? Double($0) / own : 1 } ?? 1
        return PixelSize(Self.pixels(width * scale), Self.pixels(height * scale))
    }

    /// Parts of a pixel need a whole one; what rounding of the scale has added does not.
    private static func pixels(_ length: Double) -> Int {
        length < Double(Int32.max) ? max(1, Int((length - 1e-6).rounded(.up))) : Int(Int32.max)
    }

    func bitmap(_ size: PixelSize) throws(ImagingError) -> Bitmap {
        try Bitmap(size, hasAlpha: nil) { rows throws(ImagingError) in
            rows.fill()
            var message = kf_message()
            let (width, height) = (UInt32(size.width), UInt32(size.height))
            guard kf_svg_draw(handle, rows.base, rows.bytesPerRow, width, height, &message) == KF_OK else {
                throw message.error(decoding: .svg)
            }
        }
    }
}
#endif
