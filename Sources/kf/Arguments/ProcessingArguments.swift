// The options for the format and the quality of results, for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation
import Kingfisher

/// The options for the format and the quality of results.
struct ProcessingArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Write this format.", valueName: "format"))
    var format: OutputFormat?

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

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Write files of at most this size, in the highest quality that allows it. (Not to be confused with "
                + "--max-bytes, which limits what is read.)",
            valueName: "200k|1.5M|bytes"
        ),
        transform: FileSize.init
    )
    var maxSize: FileSize?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The sides of the images in an ICO file, 1 to 256. (default: its own size, and 16, 32 and 48 where these are smaller)",
            valueName: "n,n…"
        ),
        transform: Self.sides
    )
    var sizes: [Int]?

    @Flag(
        help: ArgumentHelp(
            "Write WebP and AVIF so that no pixel changes, whatever the size; PNG never changes one.",
            discussion: "Pixels have 8 bits, multiplied by alpha: what exceeds that is rounded when an image is read."
        )
    )
    var lossless = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The resolution of colours in JPEG and AVIF: 444 is the full one, for text and drawings, 420 half of it. "
                + "(default: 444 from quality 90 up)",
            valueName: "444|420"
        )
    )
    var subsampling: Subsampling?

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
                + "cut, scaled, turned or mirrored only; gainmap,exif keeps both. Images are encoded anew for it. Nothing "
                + "is kept otherwise, but original bytes are copied whole.",
            valueName: "exif|exif+gps|gainmap,…"
        )
    )
    var keep: KeptMetadata?

    @Flag(
        help: """
            Write the ICC profile of sRGB into JPEG and WebP, some 600 bytes, for programs that ask for one; without it \
            files are taken for sRGB, too. Images are encoded anew for it.
            """
    )
    var profile = false

    @Flag(help: "Take only the first frame of an animation.")
    var still = false

    @Flag(
        help: """
            Keep all frames when writing a GIF, even above 50 a second, where it then plays more slowly. (default: \
            leave out frames, and keep the duration)
            """
    )
    var keepFrames = false

    @Flag(help: "Take damaged images for failures, and do not write what is left of them.")
    var strict = false

    @Flag(help: "Let -o - write an image's bytes to a terminal.")
    var force = false

    func validate() throws {
        if lossless, let quality, quality.fraction ?? 0 < 1 {
            throw ValidationError("--lossless and --quality exclude each other")
        }
        if maxSize != nil, lossless || quality != nil {
            throw ValidationError("--max-size finds the quality: it excludes --quality and --lossless")
        }
        if let effort, !EncoderSettings.efforts.contains(effort) {
            throw ValidationError("--effort must be a number from 0 to 10, such as 5")
        }
        if still, keepFrames {
            throw ValidationError("--still and --keep-frames exclude each other")
        }
        if lossless, subsampling == .half {
            throw ValidationError("--lossless and --subsampling 420 exclude each other")
        }
        if lossless, format == .jpeg {
            throw ValidationError("--lossless does not work with JPEG; use --format png, webp or avif")
        }
    }

    /// Throws for a damaged image where that is a failure.
    ///
    /// - Parameters:
    ///   - image: The image.
    ///   - replacesSource: Whether what is left of it would replace it.
    /// - Throws: That it is damaged.
    func check(_ image: Image, replacesSource: Bool = false) throws(Failure) {
        try check(isDamaged: image.isDamaged, replacesSource: replacesSource)
    }

    /// The same for an image of which only that is known.
    func check(isDamaged: Bool, replacesSource: Bool) throws(Failure) {
        guard isDamaged, strict || replacesSource else { return }
        throw replacesSource ? .damagedInPlace : .damaged
    }

    /// Reads the argument of `-o`.
    ///
    /// - Parameters:
    ///   - output: The argument.
    ///   - sources: The number of sources; nil for those in folders, which may be many.
    ///   - copies: Whether original bytes may be written.
    /// - Returns: The destination.
    /// - Throws: A usage error where it means nothing, or where results cannot be written there.
    func destination(_ output: String, sources: Int?, copies: Bool) throws(ValidationError) -> OutputDestination {
        let destination = try OutputDestination(output, sources: sources)
        try destination.checkTerminal(force: force)
        if format == nil { try destination.checkFormat(copies: copies) }
        if sizes != nil, let type = format?.contentType ?? destination.type, type != .ico {
            throw ValidationError("--sizes are those of an ICO file, and this is \(type.name)")
        }
        return destination
    }

    /// Reads the argument of `--sizes`.
    private static func sides(_ text: String) throws -> [Int] {
        let sides = text.split(separator: ",", omittingEmptySubsequences: false).map {
            Int($0.trimmingCharacters(in: .whitespaces))
        }
        guard sides.allSatisfy({ (1...256).contains($0 ?? 0) }) else {
            throw ValidationError("--sizes must be numbers from 1 to 256, such as 16,32,48")
        }
        return Array(Set(sides.compactMap(\.self))).sorted()
    }

    /// How results are written.
    ///
    /// - Parameters:
    ///   - destination: The destination of the results.
    ///   - isProcessed: Whether images go through a pipeline.
    /// - Returns: The encoding of each of them.
    func encoding(for destination: OutputDestination?, isProcessed: Bool) -> Encoding {
        Encoding(
            wanted: format?.contentType ?? destination?.type,
            quality: quality?.fraction,
            targetScore: quality?.score,
            isLossless: lossless,
            subsampling: subsampling,
            encoder: EncoderSettings(isProgressive: progressive, effort: effort),
            keeps: keep,
            embedsProfile: profile,
            maxSize: maxSize?.bytes,
            iconSides: sizes,
            isStill: still,
            keepsFrames: keepFrames,
            keepsFormat: destination == .inPlace,
            isChanged: isProcessed || still || keep != nil || profile
        )
    }
}
