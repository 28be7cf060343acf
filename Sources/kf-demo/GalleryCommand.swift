// `kf-demo gallery`: every processor on one contact sheet, and two smaller sheets. The processors are in Exhibit.

import Foundation
import KFDemoSupport
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// Shows the effect of every processor.
struct GalleryCommand {
    /// The image to process; nil for an image that is drawn.
    private let photo: String?
    private let output: URL

    private static let (cellWidth, cellHeight) = (240, 180)

    /// - Parameter arguments: Those behind the name of the command.
    /// - Throws: `Arguments.Failure` when one is wrong.
    init(_ arguments: some Sequence<String>) throws {
        let arguments = try Arguments(arguments, options: ["--output"])
        photo = try arguments.other()
        guard let output = arguments["--output"] else {
            throw Arguments.Failure.wrong("--output DIRECTORY is missing: where to write the sheets")
        }
        self.output = URL(fileURLWithPath: output, isDirectory: true)
    }

    func run() async throws {
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let given = try photo.map(Arguments.contents)
        let sheets = [
            ("gallery", Exhibit.all, "kf process --process ...", 5), ("boxes", Exhibit.boxes, "One image, one box", 5),
            ("light", Exhibit.light, "Light adds up", 3),
        ]
        for (name, exhibits, title, columns) in sheets {
            let file = output.appendingPathComponent("\(name).jpg")
            let sheet = ContactSheet(cellWidth: Self.cellWidth, cellHeight: Self.cellHeight, columns: columns)
            let data = try await WorkExecutor.cpu.run { () async throws -> Data in
                let image = sheet.drawn(title: title, cells: try Self.cells(of: exhibits, photo: given))
                return try Codecs.encode(image, as: .jpeg, quality: 0.8)
            }
            try data.write(to: file)
            print("\(exhibits.count) cells: \(file.path)")
        }
    }

    /// The cells with a given photo, or with images drawn here.
    private static func cells(of exhibits: [Exhibit], photo given: Data?) throws -> [ContactSheet.Cell] {
        let original = try fitted(given.map { .data($0) } ?? .image(landscape()))
        let onNothing = try given == nil ? fitted(.image(bird())) : original
        return try exhibits.map { exhibit in
            let subject =
                switch exhibit.subject {
                case .photo: original
                case .bird: onNothing
                case .lines: lines()
                case .stars: stars()
                }
            let image = try processed(.image(subject), exhibit.processor)
            // Rotated images can be larger than a cell.
            let isLarge = image.pixelWidth > cellWidth || image.pixelHeight > cellHeight
            return ContactSheet.Cell(label: exhibit.label, image: isLarge ? try fitted(.image(image)) : image)
        }
    }

    /// An image in the size of a cell; smaller ones are enlarged, so that lengths in pipelines mean the same for all.
    private static func fitted(_ item: ImageProcessItem) throws -> Image {
        let size = CGSize(width: cellWidth, height: cellHeight)
        return try processed(item, ResizingImageProcessor(referenceSize: size, mode: .aspectFit, filter: .lanczos3))
    }

    private static func processed(_ item: ImageProcessItem, _ processor: any ImageProcessor) throws -> Image {
        let options = KingfisherParsedOptionsInfo([.onlyLoadFirstFrame])
        if let image = processor.process(item: item, options: options) { return image }
        throw KingfisherError.processorError(reason: .processingFailed(processor: processor, item: item))
    }

    /// A landscape with a bird, four times as large as a cell.
    private static func landscape() -> Image {
        let (width, height) = (4 * cellWidth, 4 * cellHeight)
        let land = Landscape(seed: 0).painting(width: width, height: height)
        let bird = Bird(shade: 0).painting(width: height * 3 / 4, height: height * 3 / 4)
        return .painted(width: width, height: height) { x, y in
            bird(x - width / 12, y - height / 4).over(land(x, y))
        }
    }

    /// A bird on a transparent ground, four times as large as a cell.
    private static func bird() -> Image {
        let (width, height) = (4 * cellWidth, 4 * cellHeight)
        return .painted(width: width, height: height, Bird(shade: 0).painting(width: width, height: height))
    }

    /// Slanted lines of one pixel on black, nearer to each other from left to right.
    private static func lines() -> Image {
        let distances = [8, 6, 4, 3, 2]
        return .painted(width: 4 * cellWidth, height: 4 * cellHeight) { x, y in
            (x + y / 3) % distances[x * 5 / (4 * cellWidth)] == 0 ? Paint(0xFFFFFF) : Paint(0x000000)
        }
    }

    /// A night sky with a star in each hundred pixels.
    private static func stars() -> Image {
        let noise = Noise(seed: 8)
        return .painted(width: 4 * cellWidth, height: 4 * cellHeight) { x, y in
            let isStar = noise.hash(Int32(x), Int32(y)) > 0.99
            return Paint(0x080A1E).mixed(with: Paint(0xFFFFFF), isStar ? 0.4 + 0.6 * noise.hash(Int32(y), Int32(x)) : 0)
        }
    }
}
