// Runs kf-desktop on folders and files of the disk, on a display that exists in memory only.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@Suite(.tags(.processes)) struct DesktopTests {
    /// A folder that is removed with this object.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ data: Data, _ path: String) throws {
            let file = url.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: file)
        }
    }

    private let screenshots: Folder
    private let images: Folder

    init() throws { (screenshots, images) = (try Folder(), try Folder()) }

    private func plain(_ color: UInt32, width: Int = 120, height: Int = 90) throws -> Data {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: false) { buffer, _ in
            buffer.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | color)
        }
        return try #require(Image(cgImage: bitmap).pngData())
    }

    private var environment: [String: String] { ["XDG_CACHE_HOME": screenshots.url.path, "GDK_SCALE": "1"] }

    private func run(_ arguments: [String], display: Program.Display = .ordinary) async throws -> Program.Run {
        try await Program.run("kf-desktop", arguments, display: display, environment: environment)
    }

    /// The window as `--screenshot` writes it.
    private func screenshot(_ arguments: [String], width: Int = 1024, height: Int = 768) async throws -> Frame {
        let file = screenshots.url.appendingPathComponent("window.png")
        let run = try await run(
            arguments + ["--screenshot", file.path],
            display: .plain(width: width, height: height)
        )
        #expect(run.status == 0, "\(run.output)")
        return try #require(Frame(contentsOf: file))
    }

    @Test("The images of a folder and of the folders in it are shown; files that cannot be decoded do no harm")
    func folder() async throws {
        try images.write(try plain(0x12C8A5), "one.png")
        try images.write(try plain(0xC83214), "inside/two.png")
        try images.write(Data("not an image".utf8), "broken.jpg")
        try images.write(Data("a text".utf8), "notes.txt")
        try FileManager.default.createSymbolicLink(
            atPath: images.url.appendingPathComponent("gone.png").path,
            withDestinationPath: "/nowhere"
        )
        let frame = try await screenshot([images.url.path])
        #expect(frame.count(0x12C8A5) > 10_000 && frame.count(0xC83214) > 10_000)
        // The labels and the symbols of the two that failed; the text is not among the images.
        #expect(frame.count(Self.failed) > 200 && frame.count(Self.symbol) > 800)
    }

    @Test("A screen reader is told which images could not be loaded") func screenReader() async throws {
        try images.write(Data("not an image".utf8), "broken.jpg")
        let run = try await Program.run(
            "kf-widget-checks",
            ["--accessible-program", "image: Not loaded", Program.path(of: "kf-desktop"), images.url.path],
            bus: true,
            environment: environment
        )
        let lines = run.output.split(separator: "\n")
        #expect(lines.contains("image: Not loaded"), "\(run.output)")
        #expect(lines.contains { $0.hasSuffix(": broken.jpg, not loaded") && !$0.hasPrefix("image") }, "\(run.output)")
    }

    @Test(
        "A wrong argument ends the program with one line and the exit code 64",
        arguments: [
            ["--count", "0"], ["--count=5001"], ["--count", "many"], ["--count"], ["--open=0"], ["--colour", "red"],
            ["-x"], ["photo.png", "--screenshot"], ["--urls=/nowhere"],
        ]
    )
    func wrongArgument(arguments: [String]) async throws {
        let run = try await run(arguments, display: .none)
        // What the line is about: an option, or the file that is not there.
        let wrong = try #require(arguments.last { $0.hasPrefix("-") }?.split(separator: "=").first { $0 != "--urls" })
        #expect(run.status == 64)
        #expect(run.output.hasPrefix("kf-desktop: ") && run.output.contains(wrong), "\(run.output)")
        #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
    }

    @Test("What looks like an option is a file behind two dashes; help names every option") func arguments()
        async throws
    {
        let window = screenshots.url.appendingPathComponent("window.png").path
        let file = try await run(["--screenshot=\(window)", "--", "--count"])
        #expect(file.status == 0 && FileManager.default.fileExists(atPath: window), "\(file.output)")
        let help = try await run(["--help"], display: .none)
        #expect(help.status == 0)
        for option in ["--urls", "--count", "--open", "--screenshot"] { #expect(help.output.contains(option)) }
    }

    @Test("A folder without images is said to be one") func emptyFolder() async throws {
        let run = try await run([images.url.path])
        #expect(run.status == 1 && run.output.contains("There are no images in \(images.url.path)"), "\(run.output)")
    }

    @Test("The detail of one of several files is shown") func files() async throws {
        try images.write(try plain(0x12C8A5), "one.png")
        let path = images.url.appendingPathComponent("one.png").path
        #expect(try await screenshot([path, path + ".missing", "--open", "1"]).count(0x12C8A5) > 5_000)
    }

    @Test("Columns are as wide in a narrow window as on the largest screens", arguments: [360, 1024, 3840])
    func columns(width: Int) async throws {
        for number in 0..<40 { try images.write(try plain(0x12C8A5), "\(number).png") }
        let screen = try Screen("kf-desktop", [images.url.path], width: width, height: 768, environment: environment)
        defer { screen.end() }
        var widths: [Int] = []
        let isShown = try await screen.shows { frame in
            // Through the middle of the first images.
            widths = frame.runs(of: 0x12C8A5, inRow: 140)
            return widths.count == Int((Double(width) / 220).rounded()) && widths.allSatisfy { (140...240) ~= $0 }
        }
        #expect(isShown, "\(widths)")
    }

    @Test("A window may be 360 points wide: the details of an image are below it then, as wide as the window")
    func narrow() async throws {
        try images.write(try plain(0x12C8A5, width: 800, height: 400), "one.png")
        // GTK leaves a few points of a screen to others.
        let grid = try await screenshot([images.url.path], width: 360, height: 720)
        #expect((340...360) ~= grid.width && grid.count(0x12C8A5) > 10_000)
        let detail = try await screenshot([images.url.path, "--open", "1"], width: 360, height: 720)
        try #require((340...360) ~= detail.width)
        let rows = detail.rows(with: 0x12C8A5, in: 0..<detail.width)
        let (top, bottom) = (try #require(rows.first), try #require(rows.last))
        let widths = detail.runs(of: 0x12C8A5, inRow: (top + bottom) / 2)
        #expect(widths.count == 1 && widths[0] >= detail.width - 20)  // the window has a border
        // Text below the image, in the left half of the window.
        #expect((bottom..<detail.height).contains { y in (20..<180).contains { detail[$0, y] < 0x606060 } })
    }

    @Test("A title has one line, whatever is in the name of the file") func lineBreak() async throws {
        try images.write(try plain(0x12C8A5), "a\nb.png")
        try images.write(try plain(0xC83214), "c.png")
        let frame = try await screenshot([images.url.path])
        // A second line would make the image above it lower.
        let (first, second) = (frame.rows(with: 0x12C8A5, in: 60..<180), frame.rows(with: 0xC83214, in: 240..<380))
        #expect(!first.isEmpty && first == second)
    }

    @Test("A button that tries again keeps the focus, so that it can be pressed once more") func tryAgain() async throws
    {
        let server = try await TestServer.start()
        let address = server.route("/image.png", .status(500)).absoluteString
        let screen = try Screen("kf-desktop", [address], environment: environment)
        #expect(try await screen.shows { $0.count(Self.symbol) > 300 })
        screen.press("Tab", "Tab")
        for requests in 2...3 {
            screen.press("space")
            let isShown = try await screen.shows {
                server.count("/image.png") == requests && $0.count(Self.symbol) > 300
            }
            #expect(isShown, "\(server.count("/image.png")) requests")
        }
        screen.end()
        await server.stop()
    }

    // MARK: The colours of labels and symbols

    private static let failed: UInt32 = 0x8A8A8A
    private static let symbol: UInt32 = 0xE0454D
}
