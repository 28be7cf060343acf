// `kf demo`: its options, and the order of what it does. The parts are beside this file.

import ArgumentParser
import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// Shows the whole pipeline at work, without the internet.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Load generated pictures from a server of its own, and write a contact sheet.",
        discussion: """
            The server is on loopback. Some of its pictures are slow, some redirected, one fails twice and then works, \
            and the last one is broken, which is as it should be.
            """
    )

    @Option(parsing: .unconditional, help: ArgumentHelp("Load this many pictures.", valueName: "n"))
    var count = 24

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the contact sheet and the cache into this directory.", valueName: "directory")
    )
    var output = "demo-output"

    func validate() throws {
        guard (1...500).contains(count) else { throw ValidationError("--count must be from 1 to 500") }
        guard !output.isEmpty else { throw ValidationError("--output needs a name") }
    }

    func run() async throws {
        let console = Console()
        let interruption = console.endingProgressOnInterruption()
        defer { interruption?.finish() }
        do {
            try await show(console)
        } catch let error as Failure {
            console.endProgress()
            console.error(error.text)
            throw ExitStatus.failed
        } catch let error as KingfisherError {
            console.endProgress()
            console.error(Failure(error).text)
            throw ExitStatus.failed
        }
    }

    private func show(_ console: Console) async throws {
        try await OutputFile.makeDirectory(output)
        let cache = try ImageCache(
            name: CacheArguments.name,
            cacheDirectoryURL: URL(fileURLWithPath: output).appendingPathComponent("cache", isDirectory: true)
        )
        await cache.clearCache()

        console.print("Drawing \(count) pictures.")
        let progress = ProgressReport(total: count, console: console)
        let pictures = try await DemoGallery.pictures(count) { progress.end($0, failed: false) }
        console.endProgress()
        let server = try await TestServer.start()
        DemoGallery.offer(pictures, on: server)
        console.print(
            "Loading \(Units.bytes(pictures.reduce(0) { $0 + $1.data.count })) from \(server.url("/").absoluteString)"
        )

        let run = DemoRun(pictures: pictures, server: server, cache: cache, console: console)
        let first = await run.pass("first")
        let again = await run.pass("again, from memory")
        cache.clearMemoryCache()
        let last = await run.pass("again, from disk")
        await server.stop()

        let start = ContinuousClock.now
        let path = URL(fileURLWithPath: output).appendingPathComponent("contact-sheet.png").relativePath
        try await writeSheet(last, to: path)
        let report = DemoReport(
            passes: [first, again, last],
            stages: run.stages,
            requests: server.requests.count,
            sheetSeconds: start.duration(to: .now) / .seconds(1)
        )
        console.print(lines: "\n\(report)\n".components(separatedBy: "\n") + ["Contact sheet: \(path)"])
        if report.hasUnexpectedFailures { throw ExitStatus.failed }
    }

    private func writeSheet(_ pass: DemoPass, to path: String) async throws {
        let cells = pass.outcomes.map { outcome in
            ContactSheet.Cell(
                label: outcome.picture.label.uppercased(),
                image: try? outcome.result.get().image,
                isTransparent: outcome.picture.type == .png
            )
        }
        let data = try await WorkExecutor.cpu.run { () async throws -> Data in
            let canvas = ContactSheet().drawn(title: "KINGFISHER FOR LINUX", cells: cells)
            return try Codecs.encode(Image(cgImage: canvas.bitmap), as: .png)
        }
        try await OutputFile.write(data, to: path)
    }
}
