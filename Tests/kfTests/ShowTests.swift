// The command `kf show`: its output for every kind of terminal, decoded again, and the state it leaves them in.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct ShowTests {
    let place = TestDirectory()

    /// The pixels of a PNG as a terminal shows them.
    private func shown(_ data: Data) throws -> ShownPixels {
        ShownPixels(try #require(KFCrossPlatformImage(data: data)?.cgImage))
    }

    @Test("A terminal with kitty's graphics gets the pixels of the image") func kittyPixels() async throws {
        let png = try SampleImages.png(200, 150)
        try place.write(png, "a.png")
        let run = try await FakeTerminal(kind: .kitty).kf(place, "show", "a.png")
        #expect(run.status == 0)
        #expect(run.isRestored)
        let images = try TerminalDecoder.kitty(run.output)
        try #require(images.count == 1)
        #expect(images[0].keys["f"] == "100")
        #expect(images[0].keys["q"] == "2")
        let decoded = try #require(KFCrossPlatformImage(data: images[0].png)?.cgImage)
        let original = try #require(KFCrossPlatformImage(data: png)?.cgImage)
        let same = decoded.withUnsafeBytes { one in original.withUnsafeBytes { two in one.elementsEqual(two) } }
        #expect(same)
        // 150 pixels are ten lines of sixteen: room is made before, and left after.
        #expect(run.text.contains("\u{1B}[10A\r"))
        #expect(run.text.hasSuffix("\u{1B}8\u{1B}[10B\r"))
    }

    @Test("A terminal that supports sixels gets sixels") func sixels() async throws {
        let flat = SampleImages.drawn(50, 32) { x, y in
            x < 10 ? 0 : [0xFF20_40FF, 0xFF10_C020, 0xFFFF_FFFF, 0xFF00_0000][(x / 7 + y / 5) % 4]
        }
        let png = try #require(flat.pngData())
        try place.write(png, "a.png")
        let run = try await FakeTerminal(kind: .sixel).kf(place, "show", "a.png")
        #expect(run.status == 0)
        #expect(run.isRestored)
        let images = try TerminalDecoder.sixels(run.output)
        try #require(images.count == 1)
        // Sixels have a hundred steps a channel.
        let difference = try #require(images[0].largestDifference(from: try shown(png)))
        #expect(difference <= 2)
    }

    @Test("Any other terminal gets half blocks", arguments: [FakeTerminal.Kind.plain, .silent])
    func halfBlocks(kind: FakeTerminal.Kind) async throws {
        let png = try SampleImages.png(40, 20)
        try place.write(png, "a.png")
        let run = try await FakeTerminal(kind: kind).kf(place, "show", "a.png")
        #expect(run.status == 0)
        #expect(run.isRestored)
        let body = try #require(run.text.components(separatedBy: "\u{1B}7").last?.components(separatedBy: "\u{1B}8"))
        // The terminal's driver puts a return of its own before each line feed.
        let lines = body[0].unicodeScalars.split { $0 == "\r" || $0 == "\n" }.map { String($0) }
        let pixels = try TerminalDecoder.halfBlocks(lines)
        #expect(pixels == (try shown(png)))
    }

    @Test("Without a terminal no query is written") func withoutTerminal() async throws {
        let png = try SampleImages.png(40, 21)
        try place.write(png, "a.png")
        let result = try await place.kf("show", "a.png")
        #expect(result.status == 0)
        #expect(!result.output.contains("\u{1B}[c"))
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 11)
        // The last line's lower half is no part of the image.
        let pixels = try TerminalDecoder.halfBlocks(lines)
        #expect(pixels.colors == (try shown(png).colors) + Array(repeating: 0, count: 40))
    }

    @Test("A protocol named on the command line is used without a query", arguments: ["kitty", "sixel"])
    func namedProtocol(name: String) async throws {
        let png = try SampleImages.png(30, 20)
        try place.write(png, "a.png")
        for output in [
            Array(try await place.kf("show", "a.png", "--protocol", name).output.utf8),
            try await FakeTerminal(kind: .silent).kf(place, "show", "a.png", "--protocol", name).output,
        ] {
            #expect(!output.contains("\u{1B}[c".utf8))
            let count =
                name == "kitty" ? try TerminalDecoder.kitty(output).count : try TerminalDecoder.sixels(output).count
            #expect(count == 1)
        }
    }

    @Test("Images are shrunk to the columns and rows") func shrunkToTerminal() async throws {
        try place.write(try SampleImages.jpeg(400, 300), "a.jpg")
        for (terminal, arguments, size) in [
            (FakeTerminal(kind: .kitty), ["--width", "20"], CGSize(width: 160, height: 120)),
            (FakeTerminal(kind: .kitty, rows: 11), [], CGSize(width: 213, height: 160)),
        ] as [(FakeTerminal, [String], CGSize)] {
            let run = try await terminal.kf(place, ["show", "a.jpg"] + arguments)
            let image = try #require(TerminalDecoder.kitty(run.output).first)
            #expect(KFCrossPlatformImage(data: image.png)?.size == size)
        }
    }

    @Test("Animations are played as often as allowed", arguments: ["kitty", "sixel", "blocks"])
    func loopLimit(name: String) async throws {
        try place.write(SampleImages.gif(), "a.gif")
        let run = try await FakeTerminal(kind: .plain).kf(place, "show", "a.gif", "--loops", "2", "--protocol", name)
        #expect(run.status == 0)
        #expect(run.isRestored)
        // Two frames twice, each whole before it is shown.
        #expect(run.text.components(separatedBy: "\u{1B}[?2026h").count == 5)
        #expect(run.text.components(separatedBy: "\u{1B}8\u{1B}[?2026l").count == 5)
        #expect(run.text.contains("\u{1B}[?25l"))
        #expect(run.text.hasSuffix("\u{1B}[?25h"))
        guard name == "kitty" else { return }
        let images = try TerminalDecoder.kitty(run.output)
        try #require(images.count == 4)
        #expect(Set(images.map { $0.keys["i"] }).count == 1)
        #expect(images[0].png == images[2].png)
        #expect(images[0].png != images[1].png)
    }

    @Test("Half blocks in a file show one frame of an animation", arguments: [["--frames", "1"], []])
    func animationInFile(arguments: [String]) async throws {
        try place.write(SampleImages.gif(), "a.gif")
        let result = try await place.kf(["show", "a.gif"] + arguments)
        #expect(result.output.split(separator: "\n").count == 10)
    }

    /// The arguments are those behind a protocol whose images a file can hold, and the number of images.
    @Test(
        "An animation in a file has as many frames as were asked for",
        arguments: [
            ([], 1), (["--frames", "2"], 2), (["--frames", "1", "--loops", "3"], 1), (["--loops", "2"], 4),
        ] as [([String], Int)]
    )
    func loopsInFile(arguments: [String], count: Int) async throws {
        try place.write(SampleImages.gif(), "a.gif")
        let kitty = try await place.kf(["show", "a.gif", "--protocol", "kitty"] + arguments)
        #expect(try TerminalDecoder.kitty(Array(kitty.data)).count == count)
        let sixel = try await place.kf(["show", "a.gif", "--protocol", "sixel"] + arguments)
        #expect(try TerminalDecoder.sixels(Array(sixel.data)).count == count)
    }

    @Test("A suspended animation restores the terminal until it continues") func suspendedAnimation() async throws {
        try place.write(SampleImages.gif(), "a.gif")
        let run = try await FakeTerminal(kind: .plain, signal: SIGTSTP).kf(place, "show", "a.gif")
        #expect(run.isRestoredWhileStopped == true)
        #expect(run.status == -SIGINT)
        #expect(run.isRestored)
        // Hidden and shown again twice, each time below the image.
        #expect(run.text.components(separatedBy: "\u{1B}[?25l").count == 3)
        #expect(run.text.components(separatedBy: "\u{1B}[10B\r\u{1B}[?25h").count == 3)
        #expect(run.text.hasSuffix("\u{1B}[?25h"))
    }

    @Test("An interrupted animation restores the terminal", arguments: [SIGINT, SIGTERM, SIGHUP])
    func interruptedAnimation(signal: Int32) async throws {
        try place.write(SampleImages.gif(), "a.gif")
        let run = try await FakeTerminal(kind: .plain, signal: signal).kf(place, "show", "a.gif")
        #expect(run.status == -signal)
        #expect(run.isRestored)
        #expect(run.text.hasSuffix("\u{1B}[10B\r\u{1B}[?25h"))
    }

    @Test("The pipeline is applied before the image is shown") func pipeline() async throws {
        try place.write(try SampleImages.png(40, 20), "a.png")
        let result = try await place.kf("show", "a.png", "--process", "resize(10x10)")
        #expect(result.output.split(separator: "\n").count == 5)
    }

    @Test("A source that cannot be shown is an error with a code", arguments: [("missing.png", 5003), ("a.txt", 4001)])
    func errors(source: String, code: Int) async throws {
        try place.write(Data("hello".utf8), "a.txt")
        let result = try await place.kf("show", source)
        #expect(result.status == 1)
        #expect(result.output == "")
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
    }
}

@Suite struct ShowPartsTests {
    @Test(
        "Replies are parsed whatever the pieces they arrive in",
        arguments: [
            ("", false, ShowProtocol.blocks),
            ("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c", true, .kitty),
            ("\u{1B}_Gi=31;ENOENT:no\u{1B}\\\u{1B}[?62;4;9c", true, .sixel),
            ("\u{1B}[?4c", true, .blocks),
            ("\u{1B}[?64;1;2;4", false, .blocks),
            ("abc\u{1B}[?1;2c", true, .blocks),
            ("\u{1B}[?25;1$y\u{1B}[?62;4c", true, .sixel),
        ]
    )
    func splitReplies(text: String, isComplete: Bool, best: ShowProtocol) {
        var (whole, slow) = (TerminalReply(), TerminalReply())
        whole.add(text.utf8)
        for byte in text.utf8 { slow.add([byte]) }
        for reply in [whole, slow] {
            #expect(reply.isComplete == isComplete)
            #expect(reply.best == best)
        }
    }

    /// The arguments are a size, the columns and rows of the screen, the protocol; the size and lines of the shown
    /// image.
    @Test(
        "Images are shrunk to the screen, never enlarged",
        arguments: [
            (40, 20, 80, 24, ShowProtocol.blocks, 40, 20, 10),
            (160, 40, 80, 24, .blocks, 80, 20, 10),
            (100, 100, 80, 24, .blocks, 46, 46, 23),
            (40, 21, 80, 24, .blocks, 40, 21, 11),
            (1, 5000, 80, 24, .blocks, 1, 46, 23),
            (5000, 1, 80, 24, .blocks, 80, 1, 1),
            (40, 20, 1, 1, .blocks, 1, 1, 1),
            (640, 160, 80, 24, .kitty, 640, 160, 10),
            (1280, 160, 80, 24, .kitty, 640, 80, 5),
            (100, 160, 80, 24, .sixel, 100, 160, 11),
            (100, 1000, 80, 24, .sixel, 36, 363, 23),
        ]
    )
    func layout(
        width: Int,
        height: Int,
        columns: Int,
        rows: Int,
        form: ShowProtocol,
        shownWidth: Int,
        shownHeight: Int,
        lines: Int
    ) {
        let screen = TerminalSize(columns: columns, rows: rows, cell: nil)
        let layout = ShowLayout(width: width, height: height, in: screen, columns: nil, with: form)
        #expect(layout.width == shownWidth)
        #expect(layout.height == shownHeight)
        #expect(layout.lines == lines)
    }

    @Test(
        "The loop count is the file's, up to a limit",
        arguments: [(0, nil, nil), (0, 3, 3), (2, nil, 2), (2, 5, 2), (5, 2, 2)] as [(UInt, Int?, Int?)]
    )
    func loopCount(file: UInt, limit: Int?, rounds: Int?) {
        #expect(ShowPlayer.rounds(file: file, limit: limit) == rounds)
    }

    @Test("Many colours become 256 at most, and errors are diffused") func palette() throws {
        let image = ShownPixels(try #require(SampleImages.gradient(120, 80).cgImage))
        #expect(Set(image.colors).count > 256)
        let sixels = Sixel.sequence(image)
        let decoded = try #require(try TerminalDecoder.sixels(sixels).first)
        #expect(Set(decoded.colors).count <= 256)
        #expect(Set(decoded.colors).count > 200)
        // Diffused errors cancel out: the means of tiles are very near, which those of the nearest colours would not
        // be.
        for top in stride(from: 0, to: 80, by: 16) {
            for left in stride(from: 0, to: 120, by: 24) {
                let (one, two) = (mean(image, left, top), mean(decoded, left, top))
                #expect(abs(one - two) < 2.5)
            }
        }
    }

    @Test("Up to 256 colours are kept as they are") func exactColours() {
        let colors = (0..<256).map { 0xFF00_0000 | UInt32($0 * 0x010307) } + [ShownPixels.nothing]
        let pixels = IndexedPixels(ShownPixels(width: 257, height: 1, colors: colors))
        #expect(pixels.palette == Array(colors.prefix(256)))
        #expect(pixels.indices == Array(0..<256) + [IndexedPixels.nothing])
    }

    @Test("A transparent image draws nothing") func emptySixel() throws {
        let empty = ShownPixels(width: 7, height: 13, colors: Array(repeating: 0, count: 91))
        #expect(try TerminalDecoder.sixels(Sixel.sequence(empty)) == [empty])
        #expect(HalfBlocks.lines(empty) == Array(repeating: "       ", count: 7))
    }

    @Test("Long images are sent in pieces") func kittyPieces() throws {
        let png = SampleImages.noise + SampleImages.noise + SampleImages.noise + SampleImages.noise
        let images = try TerminalDecoder.kitty(KittyGraphics.sequences(png: png, id: 7))
        #expect(images.map(\.png) == [png])
        #expect(images[0].keys["i"] == "7")
    }

    /// The mean brightness of a tile of 24 by 16 pixels.
    private func mean(_ pixels: ShownPixels, _ left: Int, _ top: Int) -> Double {
        var sum = 0
        for y in top..<top + 16 {
            for x in left..<left + 24 {
                let color = ShownColor(pixels.colors[y * pixels.width + x])
                sum += color.red + color.green + color.blue
            }
        }
        return Double(sum) / (24 * 16 * 3)
    }
}
