// `kf sheet`: many images on one, side by side. The drawing is in KFImaging.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Makes a contact sheet.
struct SheetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sheet",
        abstract: "Make a contact sheet: many images on one, side by side.",
        discussion: """
              kf sheet *.jpg -o sheet.png
              kf sheet *.png -o sheet.jpg --columns 8 --cell 120x90 --gap 4

            Images are shrunk to fit a cell, and never enlarged; of animations the first frame is taken. Those that \
            fail are reported and left out. The format is that of the name after -o, or PNG.

            --json prints an object for each source that failed, with source and error, and one for the sheet: output, \
            bytes, width, height, format, images. With -o - the lines go to standard error.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("The images, in this order.", valueName: "source"), completion: .file())
    var sources: [String]

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        parsing: .unconditional,
        help: ArgumentHelp("The file to write; - is standard output.", valueName: "file"),
        completion: .file()
    )
    var output: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of images side by side. (default: as many as rows, or one more)", valueName: "n")
    )
    var columns: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("The size of a cell in pixels.", valueName: "WxH"))
    var cell = CellSize(width: 200, height: 200)

    @Option(parsing: .unconditional, help: ArgumentHelp("The pixels between cells and around them.", valueName: "n"))
    var gap = 10

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The colour of the sheet, as in a pipeline. (default: white)", valueName: "color"),
        transform: Self.color
    )
    var background: HexColor?

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print nothing but errors, and the lines --json asks for.")
    var quiet = false

    /// The meaning of `output`, known once the options have been validated.
    private var destination = OutputDestination.standardOutput

    mutating func validate() throws {
        guard (1...1000).contains(columns ?? 1) else { throw ValidationError("--columns must be from 1 to 1000") }
        guard (0...1000).contains(gap) else { throw ValidationError("--gap must be from 0 to 1000") }
        destination = try OutputDestination(output, sources: 1)
        try destination.checkTerminal(force: false)
        try destination.checkFormat(copies: false)
        try destination.check(isNoneOf: SourceArgument.files(sources))
    }

    func run() async throws {
        let console = Console(isQuiet: quiet, results: OutputFile.resultsDescriptor(for: destination))
        let interruption = console.tidyingOnInterruption()
        defer { interruption.finish() }
        let images = await thumbnails(console)
        guard !images.isEmpty else { throw ExitStatus.failed }
        let sheet = try await drawn(images)
        let encoded = try await Encoding(wanted: destination.type, isChanged: true).encoded(sheet, original: nil)
        try await OutputFile.prepare(destination)
        let written = try await OutputFile.write(
            encoded,
            to: destination,
            name: ResultName(stem: "sheet"),
            keeping: SourceArgument.files(sources)
        )
        if json {
            console.print(written.json(images: images.count).description, always: true)
        } else {
            console.print(
                "\(images.count) \(images.count == 1 ? "image" : "images"): \(written.width)×\(written.height), "
                    + "\(written.type.name), \(Units.bytes(written.bytes)) → \(written.path)"
            )
        }
        if images.count < sources.count { throw ExitStatus.failed }
    }

    /// The images in the size of cells, in their order; those that fail are reported.
    private func thumbnails(_ console: Console) async -> [Image] {
        let reader = SourceBytes(network, limits)
        let processor = ThumbnailImageProcessor(size: CGSize(width: cell.width, height: cell.height))
        let bar = ProgressReport(total: sources.count, console: console)
        var images: [Image] = []
        await Concurrently.forEach(sources, atOnce: WorkExecutor.cpu.threadCount + 1) { index, source in
            let result = await Self.thumbnail(source, reader, processor)
            bar.end(index, failed: (try? result.get()) == nil)
            return (source, result)
        } report: { source, result in
            switch result {
            case .success(let image):
                if image.isDamaged { console.warning("\(Units.source(source)): \(Failure.damage)") }
                images.append(image)
            case .failure(let failure):
                console.error(failure.line(about: source))
                if json { console.print(failure.json(about: source).description, always: true) }
            }
        }
        console.endProgress()
        return images
    }

    private static func thumbnail(
        _ source: String,
        _ reader: SourceBytes,
        _ processor: any ImageProcessor
    ) async -> Result<Image, Failure> {
        do throws(Failure) {
            return .success(try await ImageBytes.image(try await reader.read(source), processor, isStill: true))
        } catch {
            return .failure(error)
        }
    }

    private func drawn(_ images: [Image]) async throws(Failure) -> Image {
        let grid = ImageGrid(
            columns: columns ?? Int(Double(images.count).squareRoot().rounded(.up)),
            cell: PixelSize(cell.width, cell.height),
            gap: gap,
            background: background?.color ?? .white
        )
        let size = grid.size(of: images.count)
        guard size.pixelCount <= ImageDecodingLimits.default.maxPixelCount else {
            throw Self.failure(
                "it would have \(size.width)×\(size.height) pixels; make cells smaller with --cell, or allow it with "
                    + "--max-pixels \(size.pixelCount)"
            )
        }
        let sheet = await WorkExecutor.cpu.run { () async -> Result<Image, ImagingError> in
            Result { () throws(ImagingError) in try grid.drawn(images) }
        }
        do throws(ImagingError) {
            return try sheet.get()
        } catch {
            throw Self.failure("\(error)")
        }
    }

    private static func color(_ text: String) throws -> HexColor {
        guard let color = HexColor(text) else {
            let spellings = HexColor.spellings.joined(separator: ", ")
            throw ValidationError("--background \(text) is no colour; use \(spellings)")
        }
        return color
    }

    private static func failure(_ message: String) -> Failure {
        Failure(code: 9012, reason: "cannotDraw", message: "the sheet cannot be made: \(message)")
    }
}

/// The size of a cell, `WxH`, in pixels.
struct CellSize: ExpressibleByArgument, CustomStringConvertible {
    let width: Int
    let height: Int

    var description: String { "\(width)x\(height)" }
}

extension CellSize {
    init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1],
            [width, height].allSatisfy({ (1...Int(PipelineArguments.largestSide)).contains($0) })
        else { return nil }
        self.init(width: width, height: height)
    }
}

extension WrittenImage {
    fileprivate func json(images: Int) -> JSON {
        [
            "output": .string(path),
            "bytes": .int(bytes),
            "width": .int(width),
            "height": .int(height),
            "format": .string(type.name.lowercased()),
            "images": .int(images),
        ]
    }
}
