// `kf dupes`: lists images that look alike. The hashes and their groups are KFImaging's.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// Lists images that look alike.
struct DupesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dupes",
        abstract: "List images that look alike: of one photo in other sizes, formats and qualities.",
        discussion: """
              kf dupes photos
              kf dupes photos backup --recursive --distance 3
              kf dupes *.jpg --json

            The sources of each group are on lines of their own, the one with the most pixels first; a blank line is \
            between groups. An image is in a group if it looks like one of it. Images that are turned, mirrored or \
            cropped are others; of animations the first frames are compared. Those that fail are reported and left out.

            --json prints one object per group: images, objects with source, format, width, height (in pixels, as they \
            are displayed), bytes and perceptualHash; or, for one that failed, source and error.

            \(NetworkArguments.mention)
            """
    )

    @Argument(help: ArgumentHelp("Folders, and images.", valueName: "folder"), completion: .file())
    var sources: [String]

    @Flag(
        name: [.customShort("r"), .long],
        help: ArgumentHelp(
            "Look into all folders below, too.",
            discussion: "Looked at are files whose names have an image's extension, and do not begin with a point."
        )
    )
    var recursive = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How many of the 64 bits of two hashes may differ; from 10 up images only resemble each other.",
            valueName: "0…32"
        )
    )
    var distance = 6

    @OptionGroup(title: "Limits") var limits: LimitArguments
    @OptionGroup(title: "Network", visibility: .hidden) var network: NetworkArguments

    @Flag(help: "Print one JSON object per line.")
    var json = false

    func validate() throws {
        guard (0...32).contains(distance) else { throw ValidationError("--distance must be from 0 to 32") }
    }

    func run() async throws {
        let console = Console()
        let (images, failures) = await images(console)
        let groups = await WorkExecutor.cpu.run { [distance] () async -> [[Int]] in
            images.map(\.hash).groups(within: distance)
        }
        for (index, group) in groups.enumerated() {
            let group = group.map { images[$0] }.sorted { $0.pixelCount > $1.pixelCount }
            guard !json else {
                console.print((["images": .array(group.map(\.json))] as JSON).description)
                continue
            }
            if index > 0 { console.print("") }
            for image in group { console.print(record: Redaction.source(image.source)) }
        }
        if failures > 0 { throw ExitStatus.failed }
    }

    /// The images with their hashes, each file once, and how many failed; these are reported.
    private func images(_ console: Console) async -> (images: [ComparedImage], failures: Int) {
        var seen: Set<FileIdentity> = []
        let inputs = InputFolder.images(sources, depth: recursive ? .all : .flat).filter { input in
            input.identity.map { seen.insert($0).inserted } ?? true
        }
        let reader = SourceBytes(network, limits)
        let bar = ProgressReport(total: inputs.count, console: console)
        var (images, failures): ([ComparedImage], Int) = ([], 0)
        await Concurrently.forEach(inputs, atOnce: WorkExecutor.cpu.threadCount + 1) { index, input in
            let result = await ComparedImage.reading(input, reader)
            bar.end(index, failed: (try? result.get()) == nil)
            return (input.text, result)
        } report: { source, result in
            switch result {
            case .success(let image):
                if image.isDamaged { console.warning("\(Units.source(source)): \(Failure.damage)") }
                images.append(image)
            case .failure(let failure):
                failures += 1
                console.error(failure.line(about: source))
                if json { console.print(failure.json(about: source).description) }
            }
        }
        console.endProgress()
        return (images, failures)
    }
}

/// An image as it is compared with others.
private struct ComparedImage: Sendable {
    let source: String
    let info: ImageInfo
    let hash: PerceptualHash
    let isDamaged: Bool

    /// Hashes hold no details: so many pixels on each axis are enough.
    private static let side = 256

    var pixelCount: Int { Units.product(info.pixelWidth, info.pixelHeight) }

    /// Reads an image and makes its hash.
    static func reading(_ input: ProcessInput, _ reader: SourceBytes) async -> Result<ComparedImage, Failure> {
        do throws(Failure) {
            if let problem = input.problem { throw problem }
            let data = try await reader.read(input.text)
            let info = try ImageInfo.reading(data)
            let small = ThumbnailImageProcessor(size: CGSize(width: side, height: side))
            let image = try await ImageBytes.image(data, small, isStill: true)
            let hash = await WorkExecutor.cpu.run { () async -> PerceptualHash? in image.kf.perceptualHash }
            guard let hash else { throw .cannotHash }
            return .success(ComparedImage(source: input.text, info: info, hash: hash, isDamaged: image.isDamaged))
        } catch {
            return .failure(error)
        }
    }

    var json: JSON {
        let isTurned = info.orientation.isTransposing
        return [
            "source": .string(Redaction.source(source)),
            "format": .string(info.contentType.name.lowercased()),
            "width": .int(isTurned ? info.pixelHeight : info.pixelWidth),
            "height": .int(isTurned ? info.pixelWidth : info.pixelHeight),
            "bytes": .int(info.byteCount),
            "perceptualHash": .string(hash.description),
        ]
    }
}
