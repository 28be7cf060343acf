// The formats that are built in only with a trait of the package.

/// The formats that the package's traits add.
enum OptionalFormats {
    /// The codecs of the traits that are on.
    static var codecs: [any ImageCodec.Type] {
        var codecs: [any ImageCodec.Type] = []
        #if HEIC
        codecs.append(HEICCodec.self)
        #endif
        #if JXL
        codecs.append(JXLCodec.self)
        #endif
        #if SVG
        codecs.append(SVGCodec.self)
        #endif
        return codecs
    }

    private static let traits: [(type: ImageContentType, trait: String)] = [
        (.heic, "HEIC"), (.jxl, "JXL"), (.svg, "SVG"),
    ]

    /// Why a known format has no decoder, and what to do about it.
    static func advice(about type: ImageContentType) -> String {
        guard let trait = traits.first(where: { $0.type == type })?.trait else { return "no decoder is built in" }
        return "it takes a build with the package trait \(trait)"
    }
}
