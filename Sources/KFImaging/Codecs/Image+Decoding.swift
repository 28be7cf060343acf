// Stills and headers from encoded bytes, through the codecs.

public import Foundation

extension Image {
    /// Decodes the first image of data in any format that is read here at scale 1; nil when that is impossible.
    ///
    /// - Parameter data: The encoded bytes; they alone decide what format it is.
    public convenience init?(data: Data) { self.init(data: data, scale: 1) }

    /// Decodes the first image of data in any format that is read here; nil when that is impossible.
    ///
    /// - Parameters:
    ///   - data: The encoded bytes; they alone decide what format it is.
    ///   - scale: Pixels a point.
    public convenience init?(data: Data, scale: CGFloat) {
        guard let decoded = try? Codecs.decode(data, options: DecodingOptions(scale: scale)) else { return nil }
        self.init(
            cgImage: decoded.cgImage,
            scale: decoded.scale,
            orientation: decoded.imageOrientation,
            metadata: decoded.metadata
        )
    }

    /// Reads and decodes a file at scale 1, blocking the thread; nil when that is impossible.
    ///
    /// - Parameter contentsOfFile: The path.
    public convenience init?(contentsOfFile: String) {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: contentsOfFile)) else { return nil }
        self.init(data: data)
    }
}

extension ImageInfo {
    /// Reads the header of encoded data, of any format that can be decoded.
    ///
    /// - Parameter data: The encoded bytes.
    /// - Throws: ``ImagingError`` when the header cannot be read.
    public init(data: Data) throws(ImagingError) { self = try Codecs.info(of: data) }
}

extension ImageContentType {
    /// The format that data would be decoded as, known by its first bytes unless registered coders have to be asked;
    /// nil when it is of none.
    ///
    /// - Parameter data: The encoded bytes.
    init?(decodable data: Data) {
        // A coder of the user's says by the header what it is for.
        let own = ImageCodersManager.shared.custom == nil ? nil : try? Codecs.info(of: data).contentType
        guard let type = own ?? (try? Codecs.codec(for: data).contentType) else { return nil }
        self = type
    }
}
