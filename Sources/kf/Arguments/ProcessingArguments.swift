// The options for the format and the quality of results, for `kf fetch` and `kf process`.

import ArgumentParser
import Foundation
import Kingfisher

/// The options for the format and the quality of results.
struct ProcessingArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("Write this format.", valueName: "format"))
    var format: OutputFormat?

    @OptionGroup var coding: CodingArguments

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
        help: """
            Keep all frames when writing a GIF, even above 50 a second, where it then plays more slowly. (default: \
            leave out frames, and keep the duration)
            """
    )
    var keepFrames = false

    @Flag(help: "Let -o - write an image's bytes to a terminal.")
    var force = false

    func validate() throws {
        if maxSize != nil, coding.lossless || coding.quality != nil {
            throw ValidationError("--max-size finds the quality: it excludes --quality and --lossless")
        }
        if coding.still, keepFrames {
            throw ValidationError("--still and --keep-frames exclude each other")
        }
        if coding.lossless, subsampling == .half {
            throw ValidationError("--lossless and --subsampling 420 exclude each other")
        }
        if let format { try coding.check(format) }
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
        guard isDamaged, coding.strict || replacesSource else { return }
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
            quality: coding.quality?.fraction,
            targetScore: coding.quality?.score,
            isLossless: coding.lossless,
            subsampling: subsampling,
            encoder: coding.encoder,
            keeps: coding.keep,
            embedsProfile: coding.profile,
            maxSize: maxSize?.bytes,
            iconSides: sizes,
            isStill: coding.still,
            keepsFrames: keepFrames,
            keepsFormat: destination == .inPlace,
            isChanged: isProcessed || coding.still || coding.keep != nil || coding.profile
        )
    }
}
