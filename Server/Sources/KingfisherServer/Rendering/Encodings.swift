// Which file a result becomes: format, quality, metadata. For the renderer and the processor.

import KFImageURLs
@_spi(Server) import Kingfisher

extension FileFormat {
    /// The library's name.
    var contentType: ImageContentType {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .avif
        case .gif: .gif
        case .ico: .ico
        case .svg: .svg
        case .heic: .heic
        case .bmp: .bmp
        case .tiff: .tiff
        case .jxl: .jxl
        }
    }

    /// The size of the images that files of it hold.
    var limit: FormatLimit { FormatLimit(side: contentType.longestSide, pixelCount: contentType.mostPixels) }

    /// Those whose quality can be chosen.
    fileprivate static let lossy: [FileFormat] = [.jpeg, .webp, .avif, .jxl]
    /// Those that results keep animations in.
    static let animated: Set<FileFormat> = [.gif, .webp]
}

extension ImagePlan {
    /// What the format holds that the plan names: the result is made smaller to be within it.
    ///
    /// A format that is chosen gives way to one that holds the result, see `ImageEncoding`.
    var formatLimit: FormatLimit { output.format?.limit ?? .none }
}

extension RenderingRequest {
    /// The formats of sources that are sent as they are, whatever the client prefers.
    var keptFormats: Set<ImageContentType> {
        let named = plan.output.format
        return Set(plan.output.keptFormats.filter { named == nil || named == $0 }.map(\.contentType))
    }

    /// What becomes of drawings: where the URL names no format, or theirs, they stay drawings.
    func drawings(in settings: SourceSettings) -> Drawings {
        guard plan.output.format == .svg || plan.output.format == nil else { return .rasterized }
        let isKept = plan.output.format == .svg || plan.output.keptFormats.contains(.svg)
        if settings.rasterizesDrawings, !isKept { return .rasterized }
        return settings.cleansDrawings ? .cleaned : .asTheyAre
    }

    /// How the result is encoded.
    func encoding(in configuration: ServerConfiguration) -> ImageEncoding {
        // What is sent as it is may be no image that is known here.
        var encoding = ImageEncoding.takingAnyFile
        guard !plan.output.isRaw else {
            encoding.frames = .first
            return encoding
        }
        let settings = configuration.output
        func quality(_ format: FileFormat) -> Double { Double(plan.quality(of: format, in: settings)) / 100 }
        if let format = plan.output.format, preferredFormats.isEmpty {
            encoding.format = format.contentType
            if FileFormat.lossy.contains(format) { encoding.quality = quality(format) }
            encoding.frames = FileFormat.animated.contains(format) ? .all : .first
        } else {
            encoding.preferredFormats = preferredFormats.map(\.contentType)
            encoding.allowedFormats = (plan.output.format.map { [$0] } ?? settings.preferredFormats).map(\.contentType)
            for format in FileFormat.lossy { encoding.formatQuality[format.contentType] = quality(format) }
        }
        if let search = plan.qualitySearch(in: settings), encoding.quality != nil || !encoding.formatQuality.isEmpty {
            encoding.targetScore = search.score
            let (lowest, highest) = (Double(search.qualities.lowerBound), Double(search.qualities.upperBound))
            encoding.searchedQualities = lowest / 100...highest / 100
        }
        if encoding.frames == .all {
            encoding.maxFrameCount = plan.limits.animationFrames ?? configuration.sources.maxFrames
        }
        encoding.encoder = settings.encoder
        encoding.encoder.paletteSize = settings.limitsColors ? settings.mostColors : nil
        encoding.maxBytes = plan.output.maxBytes > 0 ? plan.output.maxBytes : nil
        let metadata = plan.metadata
        encoding.keptMetadata =
            metadata.isStripped ? (metadata.keepsCopyright ? .copyright : .none) : .exifWithLocation
        if settings.keepsGainMap { encoding.keptMetadata.insert(.gainMap) }
        encoding.keepsOrientation = !plan.turning.followsOrientation
        return encoding
    }
}

/// What becomes of sources that are drawings.
enum Drawings: String {
    /// They are sent without what a browser could run.
    case cleaned
    case asTheyAre
    /// Pixels are made of them.
    case rasterized
}
