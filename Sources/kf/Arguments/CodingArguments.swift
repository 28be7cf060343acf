// The options for how images are coded, whatever their format; for `kf fetch`, `kf process` and `kf variants`.

import ArgumentParser
import KFImaging
import Kingfisher

/// The options for how images are coded.
struct CodingArguments: ParsableArguments {
    @Option(
        name: [.customShort("q", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The quality of JPEG, GIF, WebP and AVIF; WebP and AVIF lose nothing at 100, nor does WebP where colours are \
            few and that is smaller. Of score:75 it is the lowest one with that score of SSIMULACRA 2, for JPEG, WebP and \
            AVIF stills; auto is the same. With a point, 0.0 to 1.0. (default: \(Int(ImageEncodingOptions.usualQuality * 100)))
            """,
            valueName: "0…100|score:N|auto"
        ),
        transform: Quality.init
    )
    var quality: Quality?

    @Flag(
        help: ArgumentHelp(
            "Write WebP and AVIF so that no pixel changes, whatever the size; PNG never changes one.",
            discussion: "Pixels have 8 bits, multiplied by alpha: what exceeds that is rounded when an image is read."
        )
    )
    var lossless = false

    @Flag(
        inversion: .prefixedNo,
        help: "Write files that show all of the image early, coarsely at first. (default: JPEGs, but no PNGs)"
    )
    var progressive: Bool?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to look for smaller files of WebP and AVIF, from 0 to 10. (default: "
                + "\(EncoderSettings.usualEffort(\.avifSpeed)) for AVIF, \(EncoderSettings.usualEffort(\.webPMethod)) for WebP)",
            valueName: "0…10"
        )
    )
    var effort: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Keep the EXIF data of JPEG, PNG, WebP and AVIF, with the orientation 1 and without thumbnail, maker's "
                + "notes and sizes; exif+gps keeps the location, too. gainmap keeps that of a JPEG in a JPEG that was "
                + "cut, scaled, turned or mirrored only; gainmap,exif keeps both. Images are encoded anew for it.",
            valueName: "exif|exif+gps|gainmap,…"
        )
    )
    var keep: KeptMetadata?

    @Flag(
        help: """
            Write the ICC profile of sRGB, some 600 bytes, into JPEG and WebP, for programs that ask for one. Images are \
            encoded anew for it.
            """
    )
    var profile = false

    @Flag(help: "Take only the first frame of an animation.")
    var still = false

    @Flag(help: "Take damaged images for failures, and do not write what is left of them.")
    var strict = false

    func validate() throws {
        if lossless, let quality, quality.fraction ?? 0 < 1 {
            throw ValidationError("--lossless and --quality exclude each other")
        }
        if let effort, !EncoderSettings.efforts.contains(effort) {
            throw ValidationError("--effort must be a number from 0 to 10, such as 5")
        }
    }

    /// What `--progressive` and `--effort` ask for.
    var encoder: EncoderSettings { EncoderSettings(isProgressive: progressive, effort: effort) }

    /// Throws for a format that cannot be written as `--lossless` asks.
    func check(_ format: OutputFormat) throws(ValidationError) {
        if lossless, format == .jpeg {
            throw ValidationError("--lossless does not work with JPEG; use --format png, webp or avif")
        }
    }
}
