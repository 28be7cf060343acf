// The settings of scaling and of encoders. A part of the table of settings.

extension SettingsTable {
    static let encoders: [Setting] = [
        Setting(
            "USE_LINEAR_COLORSPACE",
            .boolean,
            \.output.usesLinearLight,
            help:
                "Pixels of scaled images are means of light, so that fine bright lines stay bright; else of encoded numbers."
        ),
        Setting(
            "JPEG_PROGRESSIVE",
            .boolean,
            \.output.isProgressive,
            help: "JPEGs show all of the image early, coarsely at first; they take longer to make."
        ),
        Setting(
            "PNG_INTERLACED",
            .boolean,
            \.output.isInterlaced,
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
            .integer(2...256),
            \.output.mostColors,
            help: "The most colours of PNGs, with KF_PNG_QUANTIZE."
        ),
        Setting(
            "WEBP_EFFORT",
            .integer(0...6),
            \.output.webPEffort,
            help: "How long WebP looks for smaller files; 6 is the longest."
        ),
        Setting(
            "WEBP_PRESET",
            Value<OutputSettings.WebPPreset>.name(),
            \.output.webPPreset,
            help: "What WebP takes images for."
        ),
        Setting(
            "AVIF_SPEED",
            .integer(0...10),
            \.output.avifSpeed,
            help: "How quickly AVIF is written; slower is smaller."
        ),
    ]
}
