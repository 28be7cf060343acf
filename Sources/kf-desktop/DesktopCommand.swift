// The entry of the demonstration: its arguments, and GLib's main loop.

#if canImport(CKFGTK4)
import Foundation
import KFDemoSupport
import Kingfisher
import KingfisherGTK

/// `kf-desktop`: a window full of images.
///
/// Its `main` is not async: the process's first thread belongs to GLib's main loop, which runs the main actor.
@main
struct DesktopCommand {
    /// How many images are painted when no address is given.
    let count: Int
    /// The image to begin with, counted from 1, instead of the grid.
    let open: Int?
    /// Where the window is written to when its images are there; then the program ends.
    let screenshot: String?
    private let addresses: [String]
    private let list: String?

    private static let usage = """
        Shows images in a window: a grid that scrolls, a cache, and what it does. Without addresses it paints images
        itself, and serves them on loopback. Its cache has the name kf-desktop.

        usage: kf-desktop [ADDRESS...] [OPTION...]
          ADDRESS            a URL, a file or a folder
          --urls FILE        shows the images of a list: an address a line; lines with # are left out
          --count N          paints this many images instead of 240, 5000 at most
          --open N           begins with this image, counted from 1, instead of the grid
          --screenshot FILE  writes the window into this PNG when its images are there, and ends
        """

    static func main() {
        do {
            try DesktopCommand(CommandLine.arguments.dropFirst()).run()
        } catch {
            Arguments.exit("kf-desktop", usage: usage, for: error)
        }
    }

    private init(_ arguments: some Sequence<String>) throws {
        let arguments = try Arguments(arguments, options: ["--urls", "--count", "--open", "--screenshot"])
        addresses = arguments.others
        list = arguments["--urls"]
        count = try arguments.number("--count", in: 1...5000) ?? 240
        open = try arguments.number("--open", in: 1...1_000_000)
        screenshot = arguments["--screenshot"]
    }

    private func run() throws {
        let addresses = try addresses + listed()
        try MainActor.assumeIsolated {
            try KFGTK.initialize()
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
        guard let list else { return [] }
        return try String(decoding: Arguments.contents(of: list), as: UTF8.self).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
#else
import Foundation

/// Names the missing arguments.
@main
struct DesktopCommand {
    static func main() {
        let text =
            "kf-desktop: GTK 4 was missing when this was built: install libgtk-4-dev and build again, from clean\n"
        FileHandle.standardError.write(Data(text.utf8))
        exit(EXIT_FAILURE)
    }
}
#endif
