// How results are encoded, by the configuration and by the plan, and the image that is laid over results whose URLs ask
// for it. For the renderer.

package import Foundation
@_spi(Server) package import Kingfisher

/// How results are encoded, unless URLs say so.
package struct OutputSettings: Hashable, Sendable {
    /// From 1 to 100.
    package var quality = 80
    package var formatQuality: [FileFormat: Int] = [.webp: 79, .avif: 63, .jxl: 77]
    /// The qualities of formats; what is set leaves those of other formats as they are.
    var changedFormatQuality: [FileFormat: Int] {
        get { formatQuality }
        set { formatQuality.merge(newValue) { $1 } }
    }

    package var autoQuality = AutoQualitySettings()
    /// Whether pixels of scaled images are means of light; else of the numbers that files hold.
    package var usesLinearLight = true
    /// Whether JPEGs keep the gain maps of their sources.
    package var keepsGainMap = false
    /// What encoders do beside the quality, but for the colours of PNGs.
    package var encoder = EncoderSettings()
    /// The effort of WebP; the usual one is left to the library, which has another one where nothing may be lost.
    var webPEffort: Int {
        get { encoder.webPEffort ?? EncoderSettings.usualWebPEffort }
        set { encoder.webPEffort = newValue == EncoderSettings.usualWebPEffort ? nil : newValue }
    }
    /// Whether PNGs have no more colours than that.
    package var limitsColors = false
    package var mostColors = EncoderSettings.paletteSizes.upperBound
    /// Formats that sources are encoded in, the first that can hold the image.
    package var preferredFormats: [FileFormat] = [.jpeg, .png, .gif]
    package var webP = Negotiation.off
    package var avif = Negotiation.off
    /// The longest side in pixels; 0 is no limit.
    package var maxDimension = 0

    package init() {}

    /// Whether results have a format because the client accepts it.
    package enum Negotiation: Hashable, Sendable {
        case off
        /// Where the URL names no format.
        case automatic
        /// Whatever the URL names.
        case enforced

        var isAutomatic: Bool {
            get { self != .off }
            set { if newValue { self = self == .enforced ? .enforced : .automatic } else { self = .off } }
        }

        var isEnforced: Bool {
            get { self == .enforced }
            set { if newValue { self = .enforced } else if self == .enforced { self = .automatic } }
        }
    }
}

extension ImagePlan {
    /// The quality of a format, from 1 to 100: the URL's, the URL's for the format, the server's for it, the server's.
    package func quality(of format: FileFormat, in settings: OutputSettings) -> Int {
        let wanted = [output.quality, output.formatQuality[format] ?? 0, settings.formatQuality[format] ?? 0]
        return wanted.first { $0 > 0 } ?? settings.quality
    }

    /// The score for which a quality is found; nil where the quality is a number.
    ///
    /// The URL's method comes first, then a quality of the URL, then the server's method.
    package func qualitySearch(in settings: OutputSettings) -> QualitySearch? {
        let namesQuality = output.quality > 0 || output.formatQuality.values.contains { $0 > 0 }
        let method = output.autoQuality.method ?? (namesQuality ? .off : settings.autoQuality.method)
        return method == .ssimulacra2 ? output.autoQuality.search(in: settings.autoQuality) : nil
    }
}

/// The watermark of a server.
package struct WatermarkSettings: Hashable, Sendable {
    /// Where its image comes from.
    package enum Origin: Hashable, Sendable {
        /// A file, which is read once.
        case file(String)
        /// The bytes of an image.
        case data(Data)
        /// A source as in URLs; it is loaded when it is first needed, and asked about again as others are.
        case source(String)
    }

    /// Nil draws none.
    package var origin: Origin?
    /// The factor for the opacities that URLs name, from 0 to 1.
    package var opacity = 1.0

    package init() {}

    var path: String? {
        get { if case .file(let path)? = origin { path } else { nil } }
        set { origin = newValue.map { .file($0) } ?? origin }
    }

    var data: Data? {
        get { if case .data(let data)? = origin { data } else { nil } }
        set { origin = newValue.map { .data($0) } ?? origin }
    }

    var source: String? {
        get { if case .source(let source)? = origin { source } else { nil } }
        set { origin = newValue.map { .source($0) } ?? origin }
    }
}
