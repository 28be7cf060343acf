// The entry of the demonstration: its arguments, and GLib's main loop.

import ArgumentParser
import Foundation
import Kingfisher
import KingfisherGTK

/// `kf-desktop`: a window full of images.
///
/// Its `main` is not async: the process's first thread belongs to GLib's main loop, which runs the main actor.
@main
struct DesktopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kf-desktop",
        abstract: "Shows images in a window: a grid that scrolls, a cache, and what it does.",
        discussion: """
            Without addresses it paints images itself, and serves them on loopback. Its cache has the name kf-desktop.
            """
    )

    @Argument(help: ArgumentHelp("Show these images: URLs, files or folders.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        help: ArgumentHelp(
            "Show the images of a list: an address a line; lines with # are left out.",
            valueName: "file"
        )
    )
    var urls: String?

    @Option(help: ArgumentHelp("Paint this many images.", valueName: "n"))
    var count = 240

    @Option(help: ArgumentHelp("Begin with this image, counted from 1, instead of the grid.", valueName: "n"))
    var open: Int?

    @Option(
        help: ArgumentHelp("Write the window into this PNG when its images are there, and end.", valueName: "file")
    )
    var screenshot: String?

    func validate() throws {
        guard (1...5000).contains(count) else { throw ValidationError("--count must be from 1 to 5000") }
        if let open, open < 1 { throw ValidationError("--open must be 1 or more") }
    }

    func run() throws {
        let addresses = try addresses + listed()
        try MainActor.assumeIsolated {
            try KingfisherGTK.initialize()
            let cache = ImageCache(name: "kf-desktop")
            // As little memory as the default cache may take on a desktop.
            cache.memoryStorage.config.totalCostLimit = ImageCache.default.memoryStorage.config.totalCostLimit
            let desktop = Desktop(cache: cache)
            let work = Task { await desktop.run(self, addresses) }
            KFMainLoop.run()
            work.cancel()
            if let failure = desktop.failure { throw failure }
        }
    }

    private func listed() throws -> [String] {
        guard let urls else { return [] }
        return try String(contentsOfFile: urls, encoding: .utf8).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
