// Kinds of media and the signatures by which they are recognised. A file's name never decides.

public import Foundation

/// A kind of media, named by its uniform type identifier.
///
/// More kinds may be added by naming them.
public struct ImageContentType: RawRepresentable, Hashable, Sendable, Codable {
    /// The uniform type identifier, such as `public.jpeg`.
    public let rawValue: String

    /// A kind of the given name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// JPEG.
    public static let jpeg = ImageContentType(rawValue: "public.jpeg")
    /// PNG, animated or not.
    public static let png = ImageContentType(rawValue: "public.png")
    /// GIF.
    public static let gif = ImageContentType(rawValue: "com.compuserve.gif")
    /// WebP.
    public static let webp = ImageContentType(rawValue: "org.webmproject.webp")
    /// AVIF.
    public static let avif = ImageContentType(rawValue: "public.avif")
    /// HEIC: HEIF with HEVC images.
    public static let heic = ImageContentType(rawValue: "public.heic")
    /// HEIF with any images.
    public static let heif = ImageContentType(rawValue: "public.heif")
    /// JPEG XL.
    public static let jxl = ImageContentType(rawValue: "public.jpeg-xl")
    /// JPEG 2000.
    public static let jp2 = ImageContentType(rawValue: "public.jpeg-2000")
    /// TIFF.
    public static let tiff = ImageContentType(rawValue: "public.tiff")
    /// Windows bitmap.
    public static let bmp = ImageContentType(rawValue: "com.microsoft.bmp")
    /// Windows icon, or cursor.
    public static let ico = ImageContentType(rawValue: "com.microsoft.ico")
    /// PDF.
    public static let pdf = ImageContentType(rawValue: "com.adobe.pdf")
    /// SVG, as text or in a file of gzip.
    public static let svg = ImageContentType(rawValue: "public.svg-image")
    /// MPEG-4 video.
    public static let mp4 = ImageContentType(rawValue: "public.mpeg-4")
    /// Apple's MPEG-4 video.
    public static let m4v = ImageContentType(rawValue: "com.apple.m4v-video")
    /// QuickTime video.
    public static let mov = ImageContentType(rawValue: "com.apple.quicktime-movie")
    /// Some kind of data; the type of images from registered coders that do not name one.
    public static let unknown = ImageContentType(rawValue: "public.data")
}

extension ImageContentType {
    /// The kind that bytes begin like; nil when they begin like no kind that is listed here.
    ///
    /// - Parameter data: The bytes, or the first hundred of them.
    public init?(sniffing data: Data) {
        guard let found = data.withUnsafeBytes({ Self.sniff($0) }) else { return nil }
        self = found
    }

    /// The kind that files with an extension usually hold; upper and lower case are the same.
    ///
    /// - Parameter fileExtension: The extension without its dot.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        guard let match = Self.table.first(where: { $0.extensions.contains(wanted) }) else { return nil }
        self = match.type
    }

    /// The extension (without dot) that files of this kind usually have; nil for kinds that are not listed here.
    public var preferredFileExtension: String? {
        Self.table.first { $0.type == self }?.extensions.first
    }

    /// The common name, such as "JPEG".
    public var name: String { Self.table.first { $0.type == self }?.name ?? rawValue }

    /// The media type for a `Content-Type` field; `application/octet-stream` for kinds that are not listed here.
    /// (Not in Kingfisher.)
    public var mimeType: String { Self.table.first { $0.type == self }?.mimeType ?? "application/octet-stream" }

    private static let table: [(type: ImageContentType, name: String, mimeType: String, extensions: [String])] = [
        (.jpeg, "JPEG", "image/jpeg", ["jpg", "jpeg", "jpe", "jfif"]),
        (.png, "PNG", "image/png", ["png", "apng"]),
        (.gif, "GIF", "image/gif", ["gif"]),
        (.webp, "WebP", "image/webp", ["webp"]),
        (.avif, "AVIF", "image/avif", ["avif", "avifs"]),
        (.heic, "HEIC", "image/heic", ["heic", "heics"]),
        (.heif, "HEIF", "image/heif", ["heif"]),
        (.jxl, "JPEG XL", "image/jxl", ["jxl"]),
        (.jp2, "JPEG 2000", "image/jp2", ["jp2", "j2k"]),
        (.tiff, "TIFF", "image/tiff", ["tiff", "tif"]),
        (.bmp, "BMP", "image/bmp", ["bmp", "dib"]),
        (.ico, "ICO", "image/x-icon", ["ico", "cur"]),
        (.pdf, "PDF", "application/pdf", ["pdf"]),
        (.svg, "SVG", "image/svg+xml", ["svg", "svgz"]),
        (.mp4, "MP4", "video/mp4", ["mp4"]),
        (.m4v, "M4V", "video/x-m4v", ["m4v"]),
        (.mov, "QuickTime", "video/quicktime", ["mov"]),
    ]
}

extension ImageContentType {
    private static let signatures: [(bytes: [UInt8], type: ImageContentType)] = [
        ([0xFF, 0xD8, 0xFF], .jpeg),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .png),
        (Array("GIF87a".utf8), .gif),
        (Array("GIF89a".utf8), .gif),
        ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jp2),
        ([0xFF, 0x4F, 0xFF, 0x51], .jp2),
        ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .jxl),
        ([0xFF, 0x0A], .jxl),
        ([0x49, 0x49, 0x2A, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2A], .tiff),
        // The same with offsets of 64 bits.
        ([0x49, 0x49, 0x2B, 0x00, 0x08, 0x00, 0x00, 0x00], .tiff),
        ([0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08, 0x00, 0x00], .tiff),
        (Array("%PDF".utf8), .pdf),
    ]

    private static let brands: [(names: [String], type: ImageContentType)] = [
        (["heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"], .heic),
        (["avif", "avis"], .avif),
        (["mif1", "msf1"], .heif),
        (["isom", "iso2", "iso4", "iso5", "iso6", "mp41", "mp42", "mmp4", "avc1", "dash"], .mp4),
        (["M4V ", "M4VH", "M4VP"], .m4v),
        (["qt  "], .mov),
    ]

    static func sniff(_ bytes: UnsafeRawBufferPointer) -> ImageContentType? {
        if let match = signatures.first(where: { bytes.starts(with: $0.bytes) }) { return match.type }
        if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) { return .webp }
        if bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) { return sniffBrand(bytes) }
        if isBitmap(bytes) { return .bmp }
        if isIcon(bytes) { return .ico }
        if isMarkup(bytes), bytes.suffix(100).contains("</svg>") { return .svg }
        return CompressedDrawing.isHere(bytes) ? .svg : nil
    }

    /// Whether the two letters are followed by a header of a length that exists.
    private static func isBitmap(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.starts(with: "BM".utf8), let length = bytes.littleEndian(14, 4) else { return false }
        return length == 12 || (16...64).contains(length) || length == 108 || length == 124
    }

    /// Whether the bytes begin with the directory of an icon or a cursor, whose first entry can be right.
    private static func isIcon(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.starts(with: [0, 0, 1, 0]) || bytes.starts(with: [0, 0, 2, 0]),
            let count = bytes.littleEndian(4, 2), let reserved = bytes.littleEndian(9, 1),
            let size = bytes.littleEndian(14, 4), let offset = bytes.littleEndian(18, 4)
        else { return false }
        // .NET writes 255 where 0 should be.
        return count > 0 && (reserved == 0 || reserved == 255) && size > 0 && offset >= 6 + 16 * count
    }

    /// Whether the text begins with a tag, behind the mark of UTF-8 and white space that editors leave there.
    static func isMarkup(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        return text.first { $0 != 32 && !(9...13).contains($0) } == UInt8(ascii: "<")
    }

    /// The major brand decides; with a general one (`mif1`) the compatible brands do.
    private static func sniffBrand(_ bytes: UnsafeRawBufferPointer) -> ImageContentType? {
        func type(at offset: Int) -> ImageContentType? {
            let brand = bytes[offset..<offset + 4]
            return brands.first { $0.names.contains { brand.elementsEqual($0.utf8) } }?.type
        }
        let major = type(at: 8)
        guard major == .heif || major == nil else { return major }
        let boxSize = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        var offset = 16
        while offset + 4 <= min(boxSize, bytes.count) {
            if let type = type(at: offset), type == .avif || type == .heic { return type }
            offset += 4
        }
        return major
    }
}

extension Collection<UInt8> where Index == Int {
    func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        guard count >= wanted.count else { return false }
        return (startIndex...endIndex - wanted.count).contains { self[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}

/// The formats that a cache serializer may be asked for by name.
public enum ImageFormat: Sendable, Hashable, CaseIterable {
    /// None of the others.
    case unknown
    /// PNG.
    case PNG
    /// JPEG.
    case JPEG
    /// GIF.
    case GIF

    /// The format that bytes begin like.
    ///
    /// Eight bytes or fewer are never recognised.
    ///
    /// - Parameter data: The bytes.
    public init(sniffing data: Data) {
        guard data.count > 8 else {
            self = .unknown
            return
        }
        if data.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .PNG
        } else if data.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .JPEG
        } else if data.starts(with: "GIF".utf8) {
            self = .GIF
        } else {
            self = .unknown
        }
    }
}
