// PNG: chunks, gamma and interlacing. setjmp is used in C only.

import CKFCodecs
import Foundation

enum PNGCodec: ImageCodec {
    static let contentType = ImageContentType.png
    static let canEncode = true
    static let canHaveFrames = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let reader = try PNGReader(bytes)
        let chunks = PNGChunks(bytes)
        var info = ImageInfo(contentType: contentType, size: reader.size, byteCount: bytes.count)
        info.orientation = chunks.orientation
        info.hasAlpha = reader.hasAlpha
        info.colorProfileName = (chunks.profile ?? reader.profile)?.name
        if let frames = chunks.frameCount { info.setAnimation(frames, chunks.duration, loops: chunks.loopCount) }
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        let reader = try PNGReader(bytes)
        try options.limits.check(width: reader.size.width, height: reader.size.height)
        let chunks = PNGChunks(bytes)
        // Reduced, it is a still of the animation; at full size it is the image that programs without support for
        // animations show.
        let frame = options.isReducing && chunks.hasHiddenImage ? firstFrame(of: bytes, options.limits) : nil
        let target = options.target(for: reader.size, chunks.orientation)
        let (bitmap, isComplete) =
            if let frame {
                (try frame.resampled(to: target), true)
            } else {
                try Self.bitmap(of: reader, target, color(of: reader, chunks))
            }
        return DecodedImage(
            bitmap: bitmap,
            orientation: chunks.orientation,
            frameCount: chunks.frameCount,
            isDamaged: !isComplete || chunks.isTruncated
        )
    }

    static func rows(
        _ bytes: UnsafeRawBufferPointer,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any RowFile)? {
        let reader = try PNGReader(bytes)
        try limits.check(width: reader.size.width, height: reader.size.height)
        let chunks = PNGChunks(bytes)
        guard !reader.hasAlpha, !reader.isInterlaced, chunks.frameCount == nil, chunks.orientation == .up else {
            return nil
        }
        return PNGRowFile(reader, chunks.profile ?? reader.profile)
    }

    /// The first frame of an animation, if that is sound; how many others there are does not matter.
    private static func firstFrame(of bytes: UnsafeRawBufferPointer, _ limits: ImageDecodingLimits) -> Bitmap? {
        var limits = limits
        limits.maxFrameCount = .max
        guard let frames = try? APNGFrames(Data(bytes), limits: limits) else { return nil }
        var compositor = FrameCompositor(frames)
        return try? compositor.frame(at: 0)
    }

    /// The conversion of the colours of a file; nil when they are sRGB.
    static func color(of bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ColorTransform? {
        color(of: try PNGReader(bytes), PNGChunks(bytes))
    }

    /// The pixels of a file whose colours have been examined already.
    static func bitmap(
        of bytes: UnsafeRawBufferPointer,
        _ color: ColorTransform?,
        _ limits: ImageDecodingLimits
    ) throws(ImagingError) -> Bitmap {
        let reader = try PNGReader(bytes)
        try limits.check(width: reader.size.width, height: reader.size.height)
        return try bitmap(of: reader, ScaledSize(reader.size), color).bitmap
    }

    private static func bitmap(
        of reader: PNGReader,
        _ target: ScaledSize,
        _ color: ColorTransform?
    ) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool) {
        if let bitmap = try reader.fastPath(color)?.bitmap(of: target) { return bitmap }
        if let bitmap = try reader.bitmap(of: target, color) { return bitmap }
        throw reader.error
    }

    private static func color(of reader: PNGReader, _ chunks: PNGChunks) -> ColorTransform? {
        // libpng makes sure that a grey profile comes with grey pixels only.
        (chunks.profile ?? reader.profile)?.transform(for: .grey)
    }

    static func exif(_ bytes: UnsafeRawBufferPointer) -> Data? {
        var exif: Data?
        PNGFile.forEachChunk(of: [UInt8](bytes)) { name, content in if name == "eXIf" { exif = Data(content) } }
        return exif
    }
}

/// An open PNG.
private final class PNGReader: RowReader {
    let size: PixelSize
    let hasAlpha: Bool
    let isInterlaced: Bool
    let profile: ColorProfile?
    private var failure = kf_message()
    private let handle: OpaquePointer
    var error: ImagingError { failure.error(decoding: .png) }

    init(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        var header = kf_png_header()
        // Icons and drawings have PNGs in them, whose codec is not asked for by its format then.
        guard BuiltInLibrary.png.isThere else { throw .notBuiltIn("PNG", package: BuiltInLibrary.png.package) }
        guard let handle = kf_png_open(bytes.start, bytes.count, &header, &failure) else {
            throw failure.error(decoding: .png)
        }
        self.handle = handle
        size = PixelSize(Int(header.width), Int(header.height))
        hasAlpha = header.has_alpha
        isInterlaced = header.interlaced
        profile = Self.profile(header)
    }

    deinit { kf_png_close(handle) }

    /// A profile takes precedence over sRGB, sRGB over gamma and primaries; these count when they differ visibly from
    /// sRGB.
    private static func profile(_ header: kf_png_header) -> ColorProfile? {
        if let icc = header.icc { return .icc(Data(bytes: icc, count: header.icc_size)) }
        guard !header.srgb, header.gamma > 0 || header.has_chromaticities else { return nil }
        let standard = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
        let primaries =
            header.has_chromaticities
            ? withUnsafeBytes(of: header.chromaticities) { Array($0.bindMemory(to: Double.self)) } : standard
        let gamma = header.gamma > 0 ? header.gamma : 1 / 2.2
        let isStandardGamma = abs(gamma * 2.2 - 1) <= 0.01
        if isStandardGamma, zip(primaries, standard).allSatisfy({ abs($0 - $1) <= 0.01 * $1 }) { return nil }
        // A file gamma of 1/2.2 is how writers abbreviate the curve of sRGB.
        return .primaries(primaries, gamma: isStandardGamma ? 0 : 1 / gamma)
    }

    /// The fast path for images of the common kinds; nil for others.
    func fastPath(_ color: ColorTransform?) -> PNGFastPath? { PNGFastPath(handle, size, color, hasAlpha: hasAlpha) }

    /// The image in this size, through libpng; nil when no row of it can be decoded.
    func bitmap(
        of target: ScaledSize,
        _ color: ColorTransform?
    ) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        if isInterlaced {
            let conversion = PixelConversion(color: color, isStraight: hasAlpha)
            guard let whole = try interlacedBitmap(conversion) else { return nil }
            return (try whole.bitmap.resampled(to: target), whole.isComplete)
        }
        return try rows(to: target, color).bitmap(from: self)
    }

    /// How the rows of an image that is not interlaced become a size.
    func rows(to target: ScaledSize, _ color: ColorTransform?) -> RowDecoding {
        RowDecoding(
            source: size,
            target: target,
            conversion: PixelConversion(color: color, isStraight: hasAlpha),
            hasAlpha: hasAlpha ? nil : false,
            missing: 0
        )
    }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        Int(kf_png_read(handle, rows, bytesPerRow, UInt32(count), &failure))
    }

    /// The passes of an interlaced image need all of it at once.
    private func interlacedBitmap(
        _ conversion: PixelConversion
    ) throws(ImagingError) -> (bitmap: Bitmap, isComplete: Bool)? {
        var (isUsable, isComplete) = (false, false)
        let bitmap = try Bitmap(size, hasAlpha: nil) { rows in
            rows.fill()
            isUsable = kf_png_read_interlaced(handle, rows.base, rows.bytesPerRow, &isComplete, &failure)
            if conversion.isIdentity { return }
            for y in 0..<size.height { conversion.apply(rows.row(y), count: size.width) }
        }
        return isUsable ? (bitmap, isComplete) : nil
    }
}

/// The rows of a PNG and the conversion of their colours.
private final class PNGRowFile: RowFile {
    private let reader: PNGReader
    private let profile: ColorProfile?
    var size: PixelSize { reader.size }
    var error: ImagingError { reader.error }
    /// Rows that cannot be decoded are missing; nothing else shows.
    let isDamaged = false

    init(_ reader: PNGReader, _ profile: ColorProfile?) { (self.reader, self.profile) = (reader, profile) }

    func begin(_ target: ScaledSize) -> RowDecoding { reader.rows(to: target, profile?.transform(for: .grey)) }

    func read(into rows: UnsafeMutablePointer<UInt8>, bytesPerRow: Int, count: Int) -> Int {
        reader.read(into: rows, bytesPerRow: bytesPerRow, count: count)
    }
}
