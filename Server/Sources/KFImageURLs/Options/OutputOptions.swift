// The options about the file that is made and how it is sent. A part of the table of options.

import Foundation
@_spi(Server) import Kingfisher

extension OptionTable {
    static let output: [ImageOption] = [
        ImageOption(
            "format",
            "f",
            "ext",
            group: .output,
            help:
                "The format of the result. An extension after the source overrides it; heic and jxl are only read, and get 422.",
            example: "f:webp",
            arguments: [OptionArgument("format", Value.format.orNil("best"), \.output.format)]
        ),
        ImageOption(
            "quality",
            "q",
            group: .output,
            help: "The quality of the result; 0 is the server's.",
            example: "q:75",
            arguments: [OptionArgument("quality", .integer(0...100), \.output.quality)]
        ),
        ImageOption(
            "format_quality",
            "fq",
            group: .output,
            help: "Pairs of a format and its quality, where quality is 0.",
            example: "fq:webp:70:avif:50",
            arguments: [
                OptionArgument("format", words: Value.format.words),
                OptionArgument("quality", words: Value.integer(0...100).words),
            ],
            repeats: true,
            setTogether: setFormatQuality
        ),
        ImageOption(
            "autoquality",
            "aq",
            group: .output,
            help:
                "With ssimulacra2 the quality of JPEG, WebP and AVIF stills is the lowest, from min_quality to max_quality, that"
                + " reaches the target, a score of SSIMULACRA 2 (90 looks the same, 70 good, 50 fair); imgproxy's methods, whose"
                + " targets are other numbers, get 404.",
            example: "aq:ssimulacra2:75:40:90",
            arguments: [
                overriding("method", .name(), \.output.autoQuality.method),
                overriding("target", .number(ImageEncodingOptions.targetScores), \.output.autoQuality.target),
                overriding("min_quality", .integer(1...100), \.output.autoQuality.minimum),
                overriding("max_quality", .integer(1...100), \.output.autoQuality.maximum),
            ]
        ),
        ImageOption(
            "max_bytes",
            "mb",
            group: .output,
            help: "Lowers the quality, down to 10, until the file has at most so many bytes; 0 is no limit.",
            example: "mb:50000",
            arguments: [OptionArgument("bytes", .integer(0...(.max)), \.output.maxBytes)]
        ),
        ImageOption(
            "skip_processing",
            "skp",
            group: .output,
            help: "Sends sources of these formats as they are, unless the URL names another format.",
            example: "skp:gif:svg",
            arguments: [OptionArgument("format", words: Value.format.words)],
            repeats: true,
            setTogether: setKeptFormats
        ),
        ImageOption(
            "raw",
            group: .output,
            help: "Sends the source as it is, as a download if it is no image; of the limits only its bytes count.",
            example: "raw:1",
            arguments: [OptionArgument("raw", \.output.isRaw)]
        ),
    ]

    static let metadata: [ImageOption] = [
        ImageOption(
            "strip_metadata",
            "sm",
            group: .metadata,
            help: "Leaves the source's EXIF out; XMP and IPTC are never kept.",
            example: "sm:0",
            arguments: [OptionArgument("strip", \.metadata.isStripped)]
        ),
        ImageOption(
            "keep_copyright",
            "kcr",
            group: .metadata,
            help: "Keeps EXIF's copyright and artist when the rest is left out.",
            example: "kcr:0",
            arguments: [OptionArgument("keep", \.metadata.keepsCopyright)]
        ),
        ImageOption(
            "strip_color_profile",
            "scp",
            group: .metadata,
            help: "Accepted without effect: results are always sRGB.",
            example: "scp:1",
            arguments: [OptionArgument("strip", \.metadata.stripsColorProfile)]
        ),
        ImageOption(
            "preserve_hdr",
            "ph",
            group: .metadata,
            help: "Accepted without effect: results have the usual dynamic range.",
            example: "ph:0",
            arguments: [OptionArgument("preserve", \.metadata.preservesHDR)]
        ),
        ImageOption(
            "enforce_thumbnail",
            "eth",
            group: .metadata,
            help: "Accepted without effect: the image itself is always taken.",
            example: "eth:1",
            arguments: [OptionArgument("enforce", \.metadata.usesThumbnail)]
        ),
    ]

    static let delivery: [ImageOption] = [
        ImageOption(
            "preset",
            "pr",
            group: .delivery,
            help: "Applies options that the server's configuration has under these names.",
            example: "pr:card",
            arguments: [OptionArgument("name", words: "name of a preset")],
            repeats: true
        ),
        ImageOption(
            "cachebuster",
            "cb",
            group: .delivery,
            help: "Another text is another version of the source: it is loaded and rendered again.",
            example: "cb:v2",
            arguments: [OptionArgument("text", .text("any"), \.delivery.cacheBuster)]
        ),
        ImageOption(
            "cache_tag",
            "ct",
            group: .delivery,
            help: "Names by which results can be purged together; they are sent as Cache-Tag. Not in imgproxy.",
            example: "ct:shoes:summer",
            arguments: [OptionArgument("tag", words: "up to 100 letters, digits, `-`, `_` and `.`")],
            repeats: true,
            setTogether: setCacheTags
        ),
        ImageOption(
            "expires",
            "exp",
            group: .delivery,
            help: "The URL is valid until then, in seconds since 1970; 0 is no limit.",
            example: "exp:1893456000",
            arguments: [OptionArgument("time", .integer(0...(.max)), \.delivery.expires)]
        ),
        ImageOption(
            "filename",
            "fn",
            group: .delivery,
            help: "The name that browsers save the result under, without extension, percent-encoded or in base64.",
            example: "fn:holiday",
            arguments: [
                OptionArgument("name", words: "any but control characters and /", initial: "the source's"),
                OptionArgument("encoded", words: Value.boolean.words, initial: "0"),
            ],
            setTogether: setFilename
        ),
        ImageOption(
            "return_attachment",
            "att",
            group: .delivery,
            help: "Browsers save the result and do not show it.",
            example: "att:1",
            arguments: [OptionArgument("attachment", \.delivery.isAttachment)]
        ),
    ]

    /// Options that the configuration must allow, since they change its limits.
    static let limits: [ImageOption] = [
        ImageOption(
            "max_src_resolution",
            "msr",
            group: .limits,
            help: "The most megapixels of a source.",
            example: "msr:20",
            arguments: [overriding("megapixels", .positive(upTo: 1e6), \.limits.sourceMegapixels)]
        ),
        ImageOption(
            "max_src_file_size",
            "msfs",
            group: .limits,
            help: "The most bytes of a source; no more than the server's own limit.",
            example: "msfs:5000000",
            arguments: [overriding("bytes", .integer(0...(.max)), \.limits.sourceBytes)]
        ),
        ImageOption(
            "max_animation_frames",
            "maf",
            group: .limits,
            help: "The most frames of an animation; the others are left out.",
            example: "maf:10",
            arguments: [overriding("frames", .integer(1...(.max)), \.limits.animationFrames)]
        ),
        ImageOption(
            "max_animation_frame_resolution",
            "mafr",
            group: .limits,
            help: "The most megapixels of a frame of an animation.",
            example: "mafr:2",
            arguments: [overriding("megapixels", .number(from: 0), \.limits.frameMegapixels)]
        ),
        ImageOption(
            "max_result_dimension",
            "mrd",
            group: .limits,
            help: "The longest side of a result, in pixels; larger ones are made smaller.",
            example: "mrd:2000",
            arguments: [overriding("pixels", .integer(0...(.max)), \.limits.resultDimension)]
        ),
    ]

    /// An argument in place of a setting of the server.
    private static func overriding<T>(
        _ name: String,
        _ value: Value<T>,
        _ field: any WritableKeyPath<ImagePlan, T?> & Sendable
    ) -> OptionArgument {
        OptionArgument(name, value.orNil("the server's"), field)
    }

    @Sendable private static func setFormatQuality(_ builder: inout PlanBuilder, _ values: [String]) -> String? {
        let qualities: [FileFormat: Int]
        switch FormatQualities.read(pairs: values) {
        case .success(let read): qualities = read
        case .failure(let complaint): return complaint.text
        }
        builder.plan.output.formatQuality.merge(qualities) { _, new in new }
        return nil
    }

    @Sendable private static func setKeptFormats(_ builder: inout PlanBuilder, _ values: [String]) -> String? {
        for value in values where !value.isEmpty {
            guard let format = FileFormat(name: value) else { return "\(quoted(value)) is no format" }
            builder.plan.output.keptFormats.insert(format)
        }
        return nil
    }

    /// They are sent in a field with commas between them.
    @Sendable private static func setCacheTags(_ builder: inout PlanBuilder, _ values: [String]) -> String? {
        for value in values where !value.isEmpty {
            let isTag =
                value.utf8.count <= 100 && value.utf8.allSatisfy { "-_.".utf8.contains($0) || isLetterOrDigit($0) }
            guard isTag else { return "\(quoted(value)) is no tag" }
            builder.plan.delivery.cacheTags.insert(value)
        }
        return nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        UnicodeScalar(byte).properties.isAlphabetic && byte < 0x80
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// A control character would end up in a header, and a slash is no part of a name.
    @Sendable private static func setFilename(_ builder: inout PlanBuilder, _ values: [String]) -> String? {
        guard let value = values.first, !value.isEmpty else { return nil }
        let isEncoded = values.count > 1 && Value.boolean.read(values[1]) ?? false
        let decoded = isEncoded ? decodedBase64URL(value) : percentDecoded(value)
        let text = decoded.flatMap { String(validating: $0, as: UTF8.self) }
        let name = isEncoded ? text : text ?? value
        guard let name, !name.isEmpty, !hasControlCharacters(name.utf8), !name.utf8.contains(UInt8(ascii: "/")) else {
            return "\(quoted(value)) is no file name"
        }
        builder.plan.delivery.filename = name
        return nil
    }
}
