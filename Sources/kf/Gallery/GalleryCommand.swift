// `kf gallery`: every processor on one contact sheet. What is on it is in Gallery.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Shows what every processor does.
struct GalleryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Write a contact sheet with one cell for every step a pipeline can have.",
        discussion: "Without a source, pictures drawn by the tool are used. The name decides the format written."
    )

    @Argument(help: ArgumentHelp("The picture to process.", valueName: "source"))
    var source: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String

    @OptionGroup var network: NetworkArguments

    func validate() throws {
        if let source { try SourceArgument.check(source) }
        do throws(OutputDestinationError) {
            let place = try OutputDestination(output, sources: 1)
            guard case .file = place else {
                throw OutputDestinationError(description: "-o \(output) is no file; name one")
            }
            try place.checkFormat(acceptsUnknown: false)
        } catch {
            throw ValidationError(error.description)
        }
    }

    func run() async throws {
        let console = Console()
        do throws(Failure) {
            let given: Image?
            if let source {
                given = try await PictureBytes.picture(try await SourceBytes(network).read(source), nil, isStill: true)
            } else {
                given = nil
            }
            let cells = await WorkExecutor.cpu.run { () async -> [ContactSheet.Cell] in Self.cells(given) }
            let sheet = await WorkExecutor.cpu.run { () async -> Image in
                let sheet = ContactSheet(cellWidth: Gallery.width, cellHeight: Gallery.height, radius: 0, columns: 5)
                return Image(cgImage: sheet.drawn(title: "kf process --process ...", cells: cells).bitmap)
            }
            let encoding = Encoding(fileName: output, isChanged: true)
            let picture = try await encoding.encoded(sheet, original: nil)
            try await OutputFile.write(picture.data, to: output)
            console.print(
                "\(cells.count) cells, \(sheet.pixelWidth)×\(sheet.pixelHeight), \(picture.type.name), "
                    + "\(Units.bytes(picture.data.count)) → \(output)"
            )
            for cell in cells where cell.image == nil {
                console.error("\(cell.label): the processor made no picture")
            }
            guard cells.allSatisfy({ $0.image != nil }) else {
                throw Failure(code: 9007, reason: "emptyCells", message: "some processors made no picture")
            }
        } catch {
            console.error(source.map(error.line(about:)) ?? error.text)
            throw ExitStatus.failed
        }
    }

    /// The cells with a given picture, or with those drawn here.
    private static func cells(_ given: Image?) -> [ContactSheet.Cell] {
        let picture = Gallery.fitted(given ?? Gallery.landscape())
        let onNothing = given == nil ? Gallery.fitted(Gallery.bird()) : picture
        let options = KingfisherParsedOptionsInfo(nil)
        return Gallery.exhibits.map { exhibit in
            let processor = (try? PipelineArgument(exhibit.pipeline.isEmpty ? nil : exhibit.pipeline))?.processor
            let start = exhibit.isOnNothing ? onNothing : picture
            var image = start
            if let processor { image = start.flatMap { processor.process(item: .image($0), options: options) } }
            // Turned pictures can be larger than a cell.
            if let large = image, large.pixelWidth > Gallery.width || large.pixelHeight > Gallery.height {
                image = Gallery.fitted(large)
            }
            return ContactSheet.Cell(
                label: Gallery.label(exhibit.pipeline),
                image: image,
                isTransparent: image?.hasAlpha ?? false
            )
        }
    }
}
