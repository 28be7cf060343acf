// The settings of encoders and of the watermark: what results are like. A part of the table of settings.

import Foundation
@_spi(Server) import Kingfisher

extension SettingsTable {
    static let encoders: [Setting] = [
        Setting(
            ours: "AUTOQUALITY_METHOD",
            Value<AutoQualityMethod>.name(),
            \.output.autoQuality.method,
            help:
                "With ssimulacra2 qualities are found, as the option autoquality does, for URLs that name neither a quality nor"
                + " a method."
        ),
        Setting(
            ours: "AUTOQUALITY_TARGET",
            .number(ImageEncodingOptions.targetScores),
            \.output.autoQuality.target,
            help: "The score of SSIMULACRA 2 that results are to have."
        ),
        Setting(
            ours: "AUTOQUALITY_MIN",
            .integer(1...100),
            \.output.autoQuality.minimum,
            help: "The lowest quality that is found."
        ),
        Setting(
            ours: "AUTOQUALITY_MAX",
            .integer(1...100),
            \.output.autoQuality.maximum,
            help: "The highest quality that is found; comes before the lowest."
        ),
        Setting(
            "USE_LINEAR_COLORSPACE",
            .boolean,
            \.output.usesLinearLight,
            help:
                "Pixels of scaled images are means of light, so that fine bright lines stay bright; else of encoded numbers."
        ),
        Setting(
            ours: "KEEP_GAIN_MAP",
            .boolean,
            \.output.keepsGainMap,
            help:
                "JPEGs keep the gain map of a JPEG, for screens of high dynamic range, where nothing but crops, sizes and"
                + " turns is asked for."
        ),
        Setting(
            "JPEG_PROGRESSIVE",
            .boolean,
            \.output.encoder.isProgressive,
            help: "JPEGs show all of the image early, coarsely at first; they take longer to make."
        ),
        Setting(
            "PNG_INTERLACED",
            .boolean,
            \.output.encoder.isInterlaced,
            help: "PNGs show all of the image early; they are larger."
        ),
        Setting(
            "PNG_QUANTIZE",
            .boolean,
            \.output.limitsColors,
            help: "PNGs have KF_PNG_QUANTIZATION_COLORS at most, without dithering, unless they are partly see-through."
        ),
        Setting(
            "PNG_QUANTIZATION_COLORS",
            .integer(EncoderSettings.paletteSizes),
            \.output.mostColors,
            help: "The most colours of PNGs, with KF_PNG_QUANTIZE."
        ),
        Setting(
            "WEBP_EFFORT",
            .integer(EncoderSettings.webPEfforts),
            \.output.webPEffort,
            help: "How long WebP looks for smaller files; 6 is the longest."
        ),
        Setting(
            "WEBP_PRESET",
            Value<WebPPreset>.name().inAnyCase,
            \.output.encoder.webPPreset,
            help: "What WebP takes images for."
        ),
        Setting(
            "AVIF_SPEED",
            .integer(EncoderSettings.avifSpeeds),
            \.output.encoder.avifSpeed,
            help: "How quickly AVIF is written; slower is smaller."
        ),
    ]

    /// Of several images the last one counts.
    static let watermark: [Setting] = [
        Setting(
            "WATERMARK_URL",
            Value.text("source").orNil(""),
            \.watermark.source,
            help: "The image that the option watermark lays over results, a source as in URLs: loaded when it is first"
                + " needed, and asked about again as sources are."
        ),
        Setting(
            "WATERMARK_PATH",
            Value.text("file").orNil(""),
            \.watermark.path,
            help: "The same as a file, which is read at the start; comes before KF_WATERMARK_URL."
        ),
        Setting(
            "WATERMARK_DATA",
            Value.base64.orNil(""),
            \.watermark.data,
            help: "The same in base64; comes before both."
        ),
        Setting(
            "WATERMARK_OPACITY",
            .number(0...1),
            \.watermark.opacity,
            help: "The factor for the opacities that URLs name."
        ),
    ]
}

extension Value where T == Data {
    /// Bytes in base64, with either alphabet.
    fileprivate static var base64: Self {
        Value(
            words: "base64",
            read: { text in
                let text = text.replacing("+", with: "-").replacing("/", with: "_")
                return decodedBase64URL(text).map { Data($0) }
            },
            write: { "(\($0.count) bytes)" }
        )
    }
}
