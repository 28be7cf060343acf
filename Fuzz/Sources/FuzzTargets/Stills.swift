// The still images of every format: headers, full and reduced decoding, and encoding of the result.

import Foundation
import KFImaging

extension FuzzTarget {
    static var stills: [FuzzTarget] {
        var types: [(String, ImageContentType)] = [
            ("jpeg", .jpeg), ("png", .png), ("gif", .gif), ("webp", .webp), ("avif", .avif), ("bmp", .bmp),
            ("ico", .ico), ("tiff", .tiff),
        ]
        #if HEIC
        types.append(("heic", .heic))
        #endif
        #if JXL
        types.append(("jxl", .jxl))
        #endif
        #if SVG
        types.append(("svg", .svg))
        #endif
        return types.map { name, type in FuzzTarget(name: name) { decode($0, as: type) } }
    }

    private static func decode(_ data: Data, as type: ImageContentType) -> Bool {
        guard ImageContentType(sniffing: data) == type else { return false }
        var limits = limits
        if type.isDecodedOutside {
            limits.isolation = .required
            ImageDecodingLimits.default = limits
        }
        _ = try? ImageInfo(data: data)
        if let image = try? Codecs.decode(data, options: DecodingOptions(limits: limits)), let bitmap = image.cgImage {
            examine(bitmap, atMost: limits.maxPixelCount)
            if bitmap.width * bitmap.height <= 1 << 12 { _ = image.pngData() }
            if let map = GainMap(of: data, limits: limits) {
                var options = ImageEncodingOptions()
                options.metadata = EncodedMetadata(gainMap: map)
                _ = try? Codecs.encode(image, as: .jpeg, options)
            }
        }
        let small = DecodingOptions(maxPixelSize: 16, limits: limits)
        if let bitmap = (try? Codecs.decode(data, options: small))?.cgImage {
            precondition(bitmap.width <= 16 && bitmap.height <= 16)
            examine(bitmap, atMost: 256)
        }
        return true
    }
}
