// `kf-demo load`: many images through the whole pipeline, three times, and a table of times.

import Foundation
import KFDemoSupport
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// Loads images from a server of its own, then again from memory, then from disk.
struct LoadCommand {
    private let count: Int
    private let output: String

    private static let sheet = ContactSheet(cellWidth: 280, cellHeight: 210, columns: 6, radius: 14)

    /// - Parameter arguments: Those behind the name of the command.
    /// - Throws: `Arguments.Failure` when one is wrong.
    init(_ arguments: some Sequence<String>) throws {
        let arguments = try Arguments(arguments, options: ["--count", "--output"])
        if let unexpected = arguments.others.first {
            throw Arguments.Failure.wrong("unexpected argument \(unexpected)")
        }
        count = try arguments.number("--count", in: 1...500) ?? 24
        output = arguments["--output"] ?? "demo-output"
    }

    func run() async throws {
        let directory = URL(fileURLWithPath: output, isDirectory: true)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let cache = try ImageCache(name: "kf-demo", cacheDirectoryURL: directory.appendingPathComponent("cache"))
        await cache.clearCache()

        print("Drawing \(count) images.")
        let images = try await DemoImage.all(count)
        let server = try await TestServer.start()
        for image in images { image.offer(on: server) }
        print("Loading them from \(server.url("/")).\n")

        let processing = Stopwatch()
        let size = CGSize(width: Self.sheet.cellWidth, height: Self.sheet.cellHeight)
        let processor =
            ThumbnailImageProcessor(size: size) |> RoundCornerImageProcessor(cornerRadius: CGFloat(Self.sheet.radius))
        let loader = Loader(images, server, cache, TimedProcessor(base: processor, stopwatch: processing))
        let network = await loader.pass("network")
        let memory = await loader.pass("memory")
        cache.clearMemoryCache()
        let disk = await loader.pass("disk")
        await server.stop()

        let seconds = cache.statistics.seconds
        print("\nStages, all images together:")
        for (name, seconds) in [
            ("download", network.downloading), ("decode and process", processing.seconds),
            ("encode for the disk", seconds.encoding), ("write", seconds.writing),
            ("read", seconds.reading), ("decode from the disk", seconds.decoding),
        ] {
            print("  \(name.padding(toLength: 22, withPad: " ", startingAt: 0))\(milliseconds(seconds))")
        }
        print("\(server.requests.count) requests reached the server.")

        let path = directory.appendingPathComponent("contact-sheet.png")
        try await writeSheet(disk, of: images, to: path)
        print("Contact sheet: \(path.relativePath)")
        guard network.isAsExpected, memory.isAsExpected, disk.isAsExpected else { exit(EXIT_FAILURE) }
    }

    private func writeSheet(_ pass: Pass, of images: [DemoImage], to path: URL) async throws {
        let cells = zip(images, pass.results).map { image, result in
            ContactSheet.Cell(label: image.label.uppercased(), image: try? result.get().image)
        }
        let data = try await WorkExecutor.cpu.run { () async throws -> Data in
            try Codecs.encode(Self.sheet.drawn(title: "KINGFISHER FOR LINUX", cells: cells), as: .png)
        }
        try data.write(to: path)
    }
}
