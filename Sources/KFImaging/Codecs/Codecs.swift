// The one list of built-in formats, and how they are called. Custom coders are handled elsewhere.

package import Foundation

/// Decoding and encoding of every format.
///
/// All functions block and may be called from any thread.
package enum Codecs {
    private static let all: [any ImageCodec.Type] =
        [
            JPEGCodec.self, PNGCodec.self, GIFCodec.self, WebPCodec.self, AVIFCodec.self, BMPCodec.self, ICOCodec.self,
            TIFFCodec.self,
        ].filter { BuiltInLibrary.reading($0.contentType)?.isThere ?? true } + OptionalFormats.codecs

    /// The formats that are built in.
    static var types: [ImageContentType] { all.map { $0.contentType } }

    /// How many times as large as requested a decoder's own scaling leaves an image at least, in both directions.
    ///
    /// Decoders average squares of pixels; the kernel that does the rest determines the quality. Compared with a
    /// full decode and Lanczos, the worst of 43 photos has 44.4 dB when 2.2 times are left to the kernel, 45.5 dB with
    /// 2.4 times, and 39 dB with less than two.
    static let scalingMargin = 2.4

    /// Reads the header; no pixels are decoded.
    static func builtInInfo(
        of data: Data,
        limits: ImageDecodingLimits = .default
    ) throws(ImagingError) -> ImageInfo {
        try info(of: data, codec(for: data), limits)
    }

    /// Decodes the first image.
    static func decodeBuiltIn(
        _ data: Data,
        options: DecodingOptions
    ) throws(ImagingError) -> Image {
        let codec = try codec(for: data)
        let decoded = try image(of: data, codec, options)
        var metadata = Image.Metadata(contentType: codec.contentType)
        metadata.isDamaged = decoded.isDamaged
        // Other formats have no gain map that follows.
        func shown(_ part: ShownPart) -> ShownPart? { codec.contentType == .jpeg ? part : nil }
        if options.isReducing {
            let (bitmap, part) = try options.cut(decoded.bitmap, decoded.orientation)
            metadata.shownPart = shown(part)
            return Image(cgImage: bitmap, scale: options.scale, orientation: .up, metadata: metadata)
        }
        metadata.shownPart = shown(ShownPart(storedAs: decoded.orientation))
        metadata.frameCount = decoded.frameCount
        metadata.animatedData = decoded.frameCount != nil ? data : nil
        metadata.decodedFrom = ContentFingerprint(data)
        return Image(
            cgImage: decoded.bitmap,
            scale: options.scale,
            orientation: decoded.orientation,
            metadata: metadata
        )
    }

    /// The frames as the data describes them; nil for stills.
    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        let decoder = try frames(of: data, codec(for: data), limits)
        if let decoder, decoder.frames.count > 1 { try limits.check(frame: decoder.canvas) }
        return decoder
    }

    /// The frames of an animation, none of them decoded yet; nil for stills.
    static func builtInFrameSource(
        of data: Data,
        limits: ImageDecodingLimits
    ) throws(ImagingError) -> (any ImageFrameSource)? {
        try frames(of: data, limits: limits).map { OnDemandFrameSource($0, data: data) }
    }

    /// The EXIF block of a JPEG, PNG, WebP or AVIF; nil when there is none.
    package static func exif(of data: Data, limits: ImageDecodingLimits = .default) -> Data? {
        ImageContentType(sniffing: data).flatMap { builtIn($0) }.flatMap { codec in
            (try? exif(of: data, codec, limits)).flatMap { $0 }
        }
    }

    /// Encodes the displayed image.
    static func encodeBuiltIn(
        _ image: Image,
        as type: ImageContentType,
        _ options: ImageEncodingOptions
    ) throws(ImagingError) -> Data {
        if let library = missing(BuiltInLibrary.writing(type)) {
            throw .notBuiltIn(type.name, package: library.package)
        }
        guard let codec = builtIn(type) else { throw .encodingFailed(type, detail: "the format is not built in") }
        guard let bitmap = try image.upright().cgImage else {
            throw .encodingFailed(type, detail: "the image is empty")
        }
        try type.check(bitmap.size)
        var options = options
        if let score = options.targetScore, !options.lossless, [.jpeg, .webp, .avif].contains(type) {
            var decoding = DecodingOptions()
            decoding.limits.isolation = .inProcess
            let target = QualityTarget(score: score, codec: codec, options: options) { data throws(ImagingError) in
                try Self.image(of: data, codec, decoding).bitmap
            }
            options.quality = try target.quality(for: bitmap)
        }
        let file = try codec.encode(bitmap, options)
        guard type == .jpeg, let map = options.metadata.gainMap, let part = image.shownPart else { return file }
        return map.added(to: file, of: bitmap.size, showing: part, options) ?? file
    }

    /// Whether images can be written in a format without a custom coder.
    package static func canEncode(as type: ImageContentType) -> Bool {
        missing(BuiltInLibrary.writing(type)) == nil && builtIn(type)?.canEncode ?? false
    }

    /// The library, if there is one and it is missing.
    private static func missing(_ library: BuiltInLibrary?) -> BuiltInLibrary? {
        library.flatMap { $0.isThere ? nil : $0 }
    }

    /// The codec of a format, if there is one.
    static func builtIn(_ type: ImageContentType) -> (any ImageCodec.Type)? { all.first { $0.contentType == type } }

    /// Whether the format can be decoded without a custom coder.
    static func isBuiltIn(_ type: ImageContentType) -> Bool { builtIn(type == .heif ? .avif : type) != nil }

    /// Does what libraries do the first time they are used, as far as it needs files.
    static func prepare() { for codec in all { codec.prepare() } }

    /// The codec of a file.
    static func codec(for data: Data) throws(ImagingError) -> any ImageCodec.Type {
        try data.withBytes { bytes throws(ImagingError) in try codec(for: bytes) }
    }

    /// The codec of a file that some bytes are.
    static func codec(for bytes: UnsafeRawBufferPointer) throws(ImagingError) -> any ImageCodec.Type {
        guard !bytes.isEmpty else { throw .emptyData }
        guard let type = ImageContentType.sniff(bytes) else {
            throw .unrecognizedFormat(resembling: NonImageContent.describe(bytes))
        }
        if let codec = all.first(where: { $0.contentType == type }) { return codec }
        if let library = missing(BuiltInLibrary.reading(type)) {
            throw .notBuiltIn(type.name, package: library.package)
        }
        // HEIF is a container; AVIF images in it can be decoded.
        if type == .heif { return AVIFCodec.self }
        throw .unsupported(type, detail: OptionalFormats.advice(about: type))
    }
}

extension Data {
    /// The bytes, for a body that throws our errors.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Result
    ) throws(ImagingError) -> Result {
        let result = withUnsafeBytes { bytes in
            Swift.Result<Result, ImagingError> { () throws(ImagingError) in try body(bytes) }
        }
        return try result.get()
    }
}

extension ImageContentType {
    /// The formats that this build reads, without coders of your own, in no particular order.
    ///
    /// What is missing was not installed when the library was compiled, or is behind a trait of the package.
    public static var readable: [ImageContentType] { Codecs.types }

    /// The formats that this build writes, without coders of your own, in no particular order.
    public static var writable: [ImageContentType] { Codecs.types.filter(Codecs.canEncode) }
}
