// `kf-demo gallery`: every processor on one contact sheet. The processors are in Exhibit.

import Foundation
import KFDemoSupport
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// Shows the effect of every processor.
struct GalleryCommand {
    /// The image to process; nil for one that is drawn.
    private let photo: String?
    private let output: String

    private static let sheet = ContactSheet(cellWidth: 240, cellHeight: 180, columns: 5)

    /// - Parameter arguments: Those behind the name of the command.
    /// - Throws: `Arguments.Failure` when one is wrong.
    init(_ arguments: some Sequence<String>) throws {
        let arguments = try Arguments(arguments, options: ["--output"])
        photo = try arguments.other()
        guard let output = arguments["--output"] else {
            throw Arguments.Failure.wrong("--output FILE is missing: the file to write")
        }
        self.output = output
    }

    func run() async throws {
        let given = try photo.map(Arguments.contents)
        let (cells, data) = try await WorkExecutor.cpu.run { () async throws -> ([ContactSheet.Cell], Data) in
            let cells = try Self.cells(given)
            return (
                cells, try Codecs.encode(Self.sheet.drawn(title: "kf process --process ...", cells: cells), as: .png)
            )
        }
        try data.write(to: URL(fileURLWithPath: output))
        print("\(cells.count) cells: \(output)")
    }

    /// The cells with a given photo, or with images drawn here.
    private static func cells(_ given: Data?) throws -> [ContactSheet.Cell] {
        let original = try fitted(given.map { .data($0) } ?? .image(landscape()))
        let onNothing = try given == nil ? fitted(.image(bird())) : original
        return try Exhibit.all.map { exhibit in
            let item = ImageProcessItem.image(exhibit.isOnNothing ? onNothing : original)
            let image = try processed(item, exhibit.processor)
            // Rotated images can be larger than a cell.
            let isLarge = image.pixelWidth > sheet.cellWidth || image.pixelHeight > sheet.cellHeight
            return ContactSheet.Cell(label: exhibit.label, image: isLarge ? try fitted(.image(image)) : image)
        }
    }

    /// An image in the size of a cell; smaller ones are enlarged, so that lengths in pipelines mean the same for all.
    private static func fitted(_ item: ImageProcessItem) throws -> Image {
        let size = CGSize(width: sheet.cellWidth, height: sheet.cellHeight)
        return try processed(item, ResizingImageProcessor(referenceSize: size, mode: .aspectFit, filter: .lanczos3))
    }

    private static func processed(_ item: ImageProcessItem, _ processor: any ImageProcessor) throws -> Image {
        let options = KingfisherParsedOptionsInfo([.onlyLoadFirstFrame])
        if let image = processor.process(item: item, options: options) { return image }
        throw KingfisherError.processorError(reason: .processingFailed(processor: processor, item: item))
    }

    /// A landscape with a bird, four times as large as a cell.
    private static func landscape() -> Image {
        let (width, height) = (4 * sheet.cellWidth, 4 * sheet.cellHeight)
        let land = Landscape(seed: 0).painting(width: width, height: height)
        let bird = Bird(shade: 0).painting(width: height * 3 / 4, height: height * 3 / 4)
        return .painted(width: width, height: height) { x, y in
            bird(x - width / 12, y - height / 4).over(land(x, y))
        }
    }

    /// A bird on a transparent ground, four times as large as a cell.
    private static func bird() -> Image {
        let (width, height) = (4 * sheet.cellWidth, 4 * sheet.cellHeight)
        return .painted(width: width, height: height, Bird(shade: 0).painting(width: width, height: height))
    }
}
