// What holds for every URL, tried with random ones: sizes are as computed, turned sources count as upright ones, and
// the tool makes the same bytes.

import Foundation
import KFImageURLs
import KFImageURLsTestSupport
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct PropertyTests {
    @Test("A result has the size that the geometry foretells") func sizes() async throws {
        try await RenderingRig.run { rig in
            for number in 0..<120 {
                var random = TestSeed.generator(number)
                let image = RandomImage.image(using: &random)
                let source = PixelSize(width: image.pixelWidth, height: image.pixelHeight)
                rig.server.route("/\(number)", .data(try #require(image.pngData())))
                let options = RandomOptions.text(using: &random)
                let request = try rig.request(options + "f:png", path: "/\(number)")
                let foretold = ImageGeometry(source: source, plan: request.plan).size
                let result = try Pixels(try await rig.renderer.render(request).image.data)
                #expect(
                    result.size == [foretold.width, foretold.height],
                    "\(options) of \(source), seed \(TestSeed.value)"
                )
            }
        }
    }

    @Test("A turned source gives the pixels of an upright one", arguments: 0..<24) func turned(number: Int) async throws
    {
        try await RenderingRig.run { rig in
            var random = TestSeed.generator(number)
            let image = RandomImage.image(using: &random)
            // A middle is rounded in the image as it is stored, as imgproxy does: corners are the same in both.
            let options = "g:nowe/" + RandomOptions.atCorners(RandomOptions.text(using: &random))
            for orientation in Orientation.allCases {
                let file = try RandomImage.png(of: image, turned: orientation)
                rig.server.route("/\(orientation.exif)", .data(file))
            }
            let expected = try await rig.pixels(options + "ar:1", path: "/1")
            for orientation in 2...8 {
                let result = try await rig.pixels(options + "ar:1", path: "/\(orientation)")
                let outcome = ImageComparison.compare(
                    try #require(result.image.cgImage),
                    try #require(expected.image.cgImage),
                    atLeast: 0
                )
                // Scaled before it is turned or after: sums are rounded once more in between.
                #expect(
                    outcome.psnr != nil && outcome.largestDifference <= 2,
                    "\(options), \(orientation): \(outcome), seed \(TestSeed.value)"
                )
            }
        }
    }

    @Test("The tool makes the same bytes for the same question", .enabled(if: Tool.isUpToDate), arguments: 0..<8)
    func tool(number: Int) async throws {
        try await RenderingRig.run { rig in
            var random = TestSeed.generator(number)
            let image = RandomImage.image(using: &random)
            let file = try RandomImage.png(of: image, turned: Orientation.allCases[number])
            rig.server.route("/a", .data(file))
            let source = rig.directory.appendingPathComponent("source.png")
            try file.write(to: source)
            for (options, steps) in Self.equals(image, using: &random) {
                for (format, quality) in [("png", 85), ("jpg", 85), ("webp", 60)] {
                    let result = try await rig.render(options + "q:\(quality)/f:\(format)").image.data
                    let output = rig.directory.appendingPathComponent("result.\(format)")
                    try await Tool.process(source, to: output, steps: steps, quality: quality)
                    #expect(
                        try result == Data(contentsOf: output),
                        "\(options)f:\(format), \(steps) of \(image.size), seed \(TestSeed.value)"
                    )
                }
            }
        }
    }

    /// Options, and the steps of the tool that mean the same.
    ///
    /// Where proportions are kept the server scales both sides by one factor, as libvips does, and the tool each to its
    /// whole pixels.
    private static func equals(
        _ image: Image,
        using random: inout MutatedPaths.Generator
    ) -> [(options: String, steps: String)] {
        let width = Int.random(in: 1...image.pixelWidth, using: &random)
        let height = Int.random(in: 1...image.pixelHeight, using: &random)
        let x = Int.random(in: 0...image.pixelWidth - width, using: &random)
        let y = Int.random(in: 0...image.pixelHeight - height, using: &random)
        return [
            ("", ""), ("rs:force:\(width):\(height)/", "thumbnail(\(width)x\(height),exact)"),
            ("c:\(width):\(height):nowe:\(x):\(y)/", "crop(\(width)x\(height),\(x)px,\(y)px)"),
            ("rot:90/", "rotate(90)"), ("rot:180/fl:1/", "rotate(180)|>flip(h)"), ("fl:0:1/", "flip(v)"),
            ("bg:ff8000/", "blend(normal,1,#ff8000)"),
        ]
    }
}

/// Small images, and files of them.
private enum RandomImage {
    /// Noise in some colours, opaque and less so, with a border.
    static func image(using random: inout MutatedPaths.Generator) -> Image {
        let (width, height) = (Int.random(in: 4...60, using: &random), Int.random(in: 4...60, using: &random))
        let bitmap = Bitmap(width: width, height: height) { bytes, bytesPerRow in
            for place in 0..<width * height {
                let (x, y) = (place % width, place / width)
                let isBorder = [0, width - 1].contains(x) || [0, height - 1].contains(y)
                let alphas: [UInt8] = isBorder ? [255] : [0, 255, 255, .random(in: 0...255, using: &random)]
                let alpha = alphas.randomElement(using: &random) ?? 255
                for channel in 0..<3 {
                    let value = isBorder ? 77 : UInt8.random(in: 0...alpha, using: &random)
                    bytes[y * bytesPerRow + x * 4 + channel] = value
                }
                bytes[y * bytesPerRow + x * 4 + 3] = alpha
            }
        }
        return Image(cgImage: bitmap)
    }

    /// A PNG that shows an image, and says that it is to be turned for that.
    static func png(of image: Image, turned orientation: Orientation) throws -> Data {
        let inverse: Orientation =
            switch orientation {
            case .left: .right
            case .right: .left
            default: orientation
            }
        let stored = Image(cgImage: try #require(image.cgImage), orientation: inverse).kf.normalized
        var file = try #require(stored.pngData())
        // Little-endian EXIF with one field: tag 0x0112, type 3, count 1.
        let field: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation.exif), 0, 0, 0, 0, 0, 0, 0]
        let block = Array("II".utf8) + [42, 0, 8, 0, 0, 0] + field
        // Behind the header, which has 33 bytes with the signature.
        file.insert(contentsOf: chunk("eXIf", block), at: 33)
        return file
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }
        let body = Array(name.utf8) + content
        var checksum = UInt32.max
        for byte in body {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return number(UInt32(content.count)) + body + number(~checksum)
    }
}

/// Options with random arguments, each followed by a slash.
private enum RandomOptions {
    /// The same options with the top left corner in place of sides, middles and points.
    static func atCorners(_ text: String) -> String {
        let options = text.split(separator: "/").map { option in
            let arguments = option.split(separator: ":", omittingEmptySubsequences: false)
            return arguments.map { ["ce", "no", "so", "ea", "we", "fp"].contains($0) ? "nowe" : $0 }
        }
        return options.map { $0.joined(separator: ":") + "/" }.joined()
    }

    static func text(using random: inout MutatedPaths.Generator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
        func word(_ words: String...) -> String { words.randomElement(using: &random) ?? words[0] }
        let gravity = word("ce", "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe")
        let offsets = word("", ":3:-2", ":0.1:0.2", ":\(number(0...40)):\(number(0...40))")
        let options = [
            "rs:\(word("fit", "fill", "fill-down", "force", "auto")):\(number(0...80)):\(number(0...80)):\(number(0...1))",
            "w:\(number(1...80))", "h:\(number(1...80))", "mw:\(number(0...80))", "mh:\(number(0...80))",
            "z:0.\(number(1...9))", "dpr:\(word("0.5", "1.5", "2", "3"))", "el:1", "ex:1:\(gravity)\(offsets)",
            "exar:1:\(gravity)\(offsets)", "g:\(gravity)\(offsets)", "g:fp:0.\(number(0...9)):0.\(number(0...9))",
            "g:sm",
            "c:\(number(0...60)):\(number(0...60)):\(gravity)\(offsets)", "c:0.\(number(1...9)):0.\(number(1...9))",
            "pd:\(number(0...9)):\(number(0...9)):\(number(0...9)):\(number(0...9))", "rot:\(word("90", "180", "270"))",
            "fl:\(number(0...1)):\(number(0...1))", "bg:\(word("fff", "10:20:30"))", "pix:\(number(0...20))",
            "mrd:\(number(1...70))",
        ]
        return (0..<number(1...4)).map { _ in (options.randomElement(using: &random) ?? "w:9") + "/" }.joined()
    }
}

/// The command line tool, where it was built beside these tests.
private enum Tool {
    private static let path = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "kf")

    /// Whether it was made of the sources as they are now.
    static var isUpToDate: Bool {
        func date(_ file: URL) -> Date? {
            try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        }
        guard let made = date(path) else { return false }
        let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        let code = (files ?? []).filter { ["swift", "c", "h"].contains($0.pathExtension) }
        return !code.isEmpty && code.allSatisfy { date($0).map { $0 <= made } ?? false }
    }

    static func process(_ source: URL, to output: URL, steps: String, quality: Int) async throws {
        let process = Process()
        process.executableURL = path
        process.arguments = ["process", source.path, "-o", output.path, "-q", "\(quality)", "--quiet"]
        if output.pathExtension == "png" { process.arguments?.removeAll { ["-q", "\(quality)"].contains($0) } }
        if !steps.isEmpty { process.arguments? += ["--process", steps] }
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(steps)")
    }
}
