// `kf variants`: its options and their values. The work is in VariantsRun.

import ArgumentParser
import Foundation
import KFImaging

/// Writes images in several widths and formats.
struct VariantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "variants",
        abstract: "Write images for pages: in several widths and formats, from one decode, with their <picture>.",
        discussion: """
              kf variants photo.jpg --widths 400,800,1600 --formats webp,jpeg -o out
              kf variants photo.jpg --widths 400,800 --formats webp,jpeg -o out --html
              kf variants *.jpg --widths 300,600 -o 'small/{width}/{name}' --json

            In a directory the files are called {name}-{width}. Images are turned upright, and lose their EXIF data \
            unless --keep is given; none is enlarged. Of animations every frame is written where the format holds \
            them. A file that is there is replaced; each is written whole or not at all, and where one cannot be, those \
            before it stay. Images that fail do not stop the others.

            --json prints one object per image: source; format, width, height (in pixels, as it is displayed), \
            orientation (the EXIF number), frames, duration (seconds), loopCount, alpha, colorProfile, bytes; exif, null \
            or an object with camera, lens, date, exposureTime (seconds), aperture, iso, focalLength (mm) and location \
            (whether one is noted); colors, objects with color and share; blurHash; thumbHash (Base64); perceptualHash \
            (64 bits in hexadecimal, of which few differ between images that look alike); damaged (whether a part is \
            missing); files, objects with bytes, width, height, frames, format and output; html. Or source and error.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("The images; - is standard input.", valueName: "image"), completion: .file())
    var sources: [String]

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The widths of the files in pixels.",
            discussion: "For widths beyond that of an image, its own is written once.",
            valueName: "n,n…"
        )
    )
    var widths: Widths

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Their formats, the best first: browsers take the first that they know. (default: the image's own)",
            valueName: "format,…"
        ),
        transform: Formats.init
    )
    var formats: Formats?

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp(
            "The directory, or names for the files.",
            discussion: OutputTemplate.help,
            valueName: "dir|pattern"
        ),
        completion: .file()
    )
    var output: String

    @OptionGroup(title: "Markup") var markup: MarkupArguments
    @OptionGroup(title: "Results") var coding: CodingArguments
    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    @Flag(help: "Take files, too, that have another format's extension, such as a PNG that is named .jpg.")
    var anyExtension = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing but errors, and what --html and --json ask for.")
    var quiet = false

    /// The meaning of `output`, known once the options have been validated.
    private var destination = OutputDestination.standardOutput

    mutating func validate() throws {
        if sources.count == 1 { try SourceArgument.check(sources[0]) }
        for format in formats?.formats ?? [] { try coding.check(format) }
        destination = try OutputDestination(output, sources: sources.count)
        switch destination {
        // One source makes several files, too.
        case .file(let path)
        where ImageContentType(fileExtension: URL(fileURLWithPath: path).pathExtension) == nil
            && access(path.systemName, F_OK) != 0:
            destination = .directory(path)
        case .file, .standardOutput, .inPlace:
            throw ValidationError("-o \(output) is one file, and there will be several; name a directory for them")
        case .template(let template): try check(template)
        case .directory: break
        }
    }

    /// Throws where several files of an image would have one name.
    private func check(_ template: OutputTemplate) throws {
        if widths.pixels.count > 1, !template.has(.width) {
            throw ValidationError("-o \(template.text) has no {width}, so files of several widths would have one name")
        }
        guard let type = destination.type else { return }
        try destination.checkFormat(copies: false)
        if type == .ico {
            throw ValidationError("-o \(template.text): an ICO has several sizes in one file; see kf process")
        }
        guard formats?.formats.map(\.contentType) ?? [type] == [type] else {
            throw ValidationError(
                "-o \(template.text) names a format that is not the one of --formats; leave its extension out, or write {ext}"
            )
        }
    }

    func run() async throws {
        let console = Console(isQuiet: quiet)
        let interruption = console.tidyingOnInterruption()
        defer { interruption.finish() }
        try await OutputFile.prepare(destination)
        let run = VariantsRun(
            reader: SourceBytes(network, limits),
            widths: widths,
            formats: formats?.formats.map(\.contentType) ?? destination.type.map { [$0] } ?? [],
            coding: coding,
            markup: markup,
            allowsWrongExtension: anyExtension,
            destination: destination,
            usesJSON: json,
            console: console
        )
        if await run.process(sources) > 0 { throw ExitStatus.failed }
    }
}
