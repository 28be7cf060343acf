// `kf-demo load`: many images through the whole pipeline, three times, and a table of times.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// Loads images from a server of its own, then again from memory, then from disk.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Load generated images from a server of its own, and write a contact sheet.",
        discussion: """
            The server is on loopback. Some of its images are slow, some redirected, one fails twice and then works, \
            and the last one is broken, which is as it should be.
            """
    )

    @Option(help: ArgumentHelp("Load this many images.", valueName: "n"))
    var count = 24

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the contact sheet and the cache into this directory.", valueName: "directory")
    )
    var output = "demo-output"

    private static let sheet = ContactSheet(cellWidth: 280, cellHeight: 210, columns: 6, radius: 14)

    func validate() throws {
        guard (1...500).contains(count) else { throw ValidationError("--count must be from 1 to 500") }
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
        guard network.isAsExpected, memory.isAsExpected, disk.isAsExpected else { throw ExitCode.failure }
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
