// What `kf` writes beside the pixels, and how it keeps their colours: EXIF, marks of sRGB, subsampling.

import Foundation
import KFImaging
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct EncodingTests {
    let place = TestDirectory()

    // MARK: EXIF

    private static let formats = ["jpg", "png", "webp", "avif"]

    /// The EXIF block that an output has, and its image.
    private func output(_ arguments: [String], _ name: String) async throws -> (exif: Data?, info: ImageInfo) {
        let result = try await place.kf(["process"] + arguments + ["-o", name, "--process", "round(0)"])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let data = try place.data(name)
        return (Codecs.exif(of: data), try ImageInfo(data: data))
    }

    @Test("--keep exif keeps what is still true, and no location", arguments: formats, [true, false])
    func keptEXIF(format: String, isLittleEndian: Bool) async throws {
        let block = SampleEXIF(isLittleEndian: isLittleEndian)
        try place.write(block.added(toJPEG: SampleImages.jpeg(60, 40)), "in.jpg")
        #expect(try await output(["in.jpg"], "none.\(format)").exif == nil)
        let (exif, info) = try await output(["in.jpg", "--keep", "exif"], "kept.\(format)")
        // The image lies on its side in the file.
        #expect(info.pixelWidth == 40 && info.pixelHeight == 60 && info.orientation == .up)
        let kept = try #require(exif)
        for word in ["MakerX", "2024:05:06 07:08:09"] { #expect(kept.range(of: Data(word.utf8)) != nil, "\(word)") }
        for word in ["NOTES", "THUMB", "LATITUDE"] { #expect(kept.range(of: Data(word.utf8)) == nil, "\(word)") }
        for (tag, value) in [(0x0112, 1), (0xA001, 1)] {
            #expect(kept.range(of: Data(block.short(tag, value))) != nil)
        }
        let all = try await output(["in.jpg", "--keep", "exif+gps"], "all.\(format)").exif
        #expect(all?.range(of: Data("LATITUDE".utf8)) != nil)
    }

    @Test("EXIF is kept from every format that is written with it", arguments: formats)
    func sourcesOfEXIF(format: String) async throws {
        try place.write(SampleEXIF(isLittleEndian: true).added(toJPEG: SampleImages.jpeg(60, 40)), "in.jpg")
        let first = try await output(["in.jpg", "--keep", "exif+gps"], "first.\(format)").exif
        let again = try await output(["first.\(format)", "--keep", "exif+gps"], "again.png").exif
        #expect(first != nil && again == first)
        let gif = try await place.kf("process", "in.jpg", "-o", "a.gif", "--process", "bw()", "--keep", "exif")
        #expect(gif.errors.contains("no EXIF data was written, for GIF is written without"), "\(gif.errors)")
    }

    @Test("--keep without processing copies no original bytes") func keptEXIFOfCopies() async throws {
        try place.write(SampleEXIF(isLittleEndian: true).added(toJPEG: SampleImages.jpeg(60, 40)), "in.jpg")
        let result = try await place.kf("fetch", "in.jpg", "-o", "out.jpg", "--keep", "exif")
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let kept = try #require(Codecs.exif(of: place.data("out.jpg")))
        #expect(kept.range(of: Data("MakerX".utf8)) != nil && kept.range(of: Data("LATITUDE".utf8)) == nil)
    }

    @Test("EXIF that is not read causes a warning, where it was to be kept") func unreadEXIF() async throws {
        // One grey pixel; each entry is a tag, a type, a count and a value.
        let entries = [(256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 1)]
        let fields = entries.flatMap { tag, value -> [UInt8] in
            [UInt8(tag & 255), UInt8(tag >> 8), 3, 0, 1, 0, 0, 0, UInt8(value), 0, 0, 0]
        }
        try place.write(Data(Array("II".utf8) + [42, 0, 8, 0, 0, 0, 9, 0] + fields + [0, 0, 0, 0]), "in.tiff")
        let png = try SampleImages.png()
        let text = Data(SampleImages.chunk("tEXt", Array("Raw profile type exif\0\nexif\n4\n4D4D002A\n".utf8)))
        // Behind the signature and the header.
        try place.write(png.prefix(33) + text + png.dropFirst(33), "text.png")
        try place.write(png, "none.png")
        for (name, place) in [("in.tiff", "TIFF"), ("text.png", "a text in PNG"), ("none.png", nil)] {
            let arguments = ["process", name, "-o", "out.jpg", "--process", "bw()"]
            let result = try await self.place.kf(arguments + ["--keep", "exif"])
            #expect(result.status == 0, "\(result.errors)")
            let words = place.map { "kf: warning: \(name): no EXIF data was kept, for kf does not read it from \($0);" }
            #expect(words.map { result.errors.hasPrefix($0) } ?? (result.errors == ""), "\(result.errors)")
            #expect(try await self.place.kf(arguments).errors == "")
        }
    }

    @Test("A damaged EXIF block is left out as far as it is damaged")
    func damagedEXIF() throws {
        let block = SampleEXIF(isLittleEndian: false).block
        for count in 0...block.count {
            let copy = EXIFCopy(Data(block.prefix(count)))?.block(keepsLocation: true)
            // What is left is a block whose copy is itself.
            #expect(copy == copy.flatMap { EXIFCopy($0)?.block(keepsLocation: true) })
        }
        for place in block.indices {
            var damaged = block
            damaged[place] = 0xFF
            _ = EXIFCopy(Data(damaged))?.block(keepsLocation: true)
        }
    }

    @Test("Fields that share their values do not make a copy larger than the block") func sharedEXIFValues() throws {
        func bytes(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 0xFF) } }
        let (entries, length) = (1_000, 50_000)
        var block = Array("II".utf8) + bytes(42, 2) + bytes(8, 4) + bytes(entries, 2)
        for index in 0..<entries {
            block += bytes(0x1000 + index, 2) + bytes(7, 2) + bytes(length, 4) + bytes(10 + 12 * entries + 4, 4)
        }
        block += bytes(0, 4) + [UInt8](repeating: 1, count: length)
        let copy = try #require(EXIFCopy(Data(block))?.block(keepsLocation: true))
        #expect(copy.count < 2 * block.count)
    }

    // MARK: Formats

    @Test("A result that is too large for its source's format becomes another, or is an error in its place")
    func outgrownFormat() async throws {
        let tall = try #require(SampleImages.drawn(4, 8) { _, _ in 0xFF20_40C0 }.pngData())
        try place.write(tall, "tall.png")
        for (name, step, size) in [
            ("tall.webp", "resize(4x16384)", "4×16384"), ("tall.ico", "resize(150x300)", "150×300"),
        ] {
            #expect(try await place.kf("process", "tall.png", "-o", name, "--process", "bw()").status == 0)
            for command in ["process", "fetch"] {
                let result = try await place.kf(command, name, "-o", "\(name)-\(command)/", "--process", step)
                #expect(result.status == 0 && result.errors == "", "\(result.errors)")
                #expect(result.output.contains("\(size), PNG"), "\(result.output)")
                #expect(place.files("\(name)-\(command)") == ["tall.png"])
            }
            let before = try place.data(name)
            let replaced = try await place.kf("process", name, "--in-place", "--process", step)
            #expect(replaced.status == 1 && replaced.errors.contains("so it is not replaced"), "\(replaced.errors)")
            #expect(try place.data(name) == before)
        }
        // Within the limit it keeps its format.
        let kept = try await place.kf("process", "tall.webp", "-o", "kept/", "--process", "resize(4x16383)")
        #expect(kept.status == 0 && place.files("kept") == ["tall.webp"], "\(kept.errors)")
    }

    @Test("An animation that is too large for its source's format stays one") func outgrownAnimation() async throws {
        try place.write(SampleImages.gif(), "in.gif")
        #expect(try await place.kf("process", "in.gif", "-o", "in.webp", "--process", "bw()").status == 0)
        let result = try await place.kf("process", "in.webp", "-o", "out/", "--process", "resize(16384x2)", "--json")
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(place.files("out") == ["in.png"])
        #expect(try result.objects.first?["frames"] as? Int == 2)
    }

    @Test(
        "Formats that hold an image are named instead of one that does not",
        arguments: [
            (20_000, 20_000, [.png, .jpeg, .gif, .bmp, .tiff]), (20_000, 4, [.png, .jpeg, .gif, .avif, .bmp, .tiff]),
            (70_000, 4, [.png, .tiff]),
        ] as [(Int, Int, [OutputFormat])]
    )
    func otherFormats(width: Int, height: Int, others: [OutputFormat]) {
        #expect(OutputFormat.others(than: .webp, holding: PixelSize(width, height)) == others)
    }

    @Test("An icon that is smaller than the result causes a warning, unless its sides were named")
    func smallerIcon() async throws {
        try place.write(SampleImages.png(600, 300), "in.png")
        let result = try await place.kf("process", "in.png", "-o", "a.ico", "--process", "bw()")
        let words = "kf: warning: in.png: the result was reduced to 256×128 pixels, the most that ICO can hold"
        #expect(result.status == 0 && result.errors.hasPrefix(words), "\(result.errors)")
        for more in [["--sizes", "32"], ["--process", "bw()|>downsample(256x256)"]] {
            let arguments = ["process", "in.png", "-o", "a.ico", "--process", "bw()"]
            let quiet = try await place.kf((more[0] == "--process" ? arguments.dropLast(2) : arguments) + more)
            #expect(quiet.status == 0 && quiet.errors == "", "\(quiet.errors)")
        }
    }

    // MARK: Colours

    @Test("PNG and AVIF say that they are sRGB, JPEG and WebP do when asked to, in the same bytes each time")
    func marks() async throws {
        try place.write(SampleImages.png(), "in.png")
        func written(_ name: String) async throws -> Data {
            let result = try await place.kf("process", "in.png", "-o", name, "--process", "bw()")
            #expect(result.status == 0, "\(result.errors)")
            return try place.data(name)
        }
        for name in ["a.jpg", "a.webp"] {
            let data = try await written(name)
            #expect(try ImageInfo(data: data).colorProfileName == nil)
            #expect(try await written(name) == data)
            let profiled = try await place.kf("process", "in.png", "-o", name, "--profile")
            let described = try place.data(name)
            #expect(profiled.status == 0 && described.count > data.count + 400)
            #expect(try ImageInfo(data: described).colorProfileName?.contains("sRGB") == true)
        }
        #expect(try await written("a.png").range(of: Data("sRGB".utf8)) != nil)
        // BT.709 primaries and the curve of sRGB.
        #expect(try await written("a.avif").range(of: Data(Array("colrnclx".utf8) + [0, 1, 0, 13])) != nil)
        try place.write(SampleImages.gif(), "in.gif")
        let animation = try await place.kf("process", "in.gif", "-o", "b.webp", "--process", "round(9)")
        let info = try ImageInfo(data: place.data("b.webp"))
        #expect(animation.status == 0 && info.frameCount == 2 && info.hasAlpha)
        #expect(info.colorProfileName == nil)
    }

    @Test("Saturated lines keep their colours with --subsampling 444", arguments: ["jpg", "avif"])
    func subsampling(format: String) async throws {
        let lines = SampleImages.drawn(64, 64) { x, _ in x % 2 == 0 ? 0xFFFF_0000 : 0xFF00_00FF }
        try place.write(#require(lines.pngData()), "in.png")
        func quality(_ arguments: String...) async throws -> Double {
            let result = try await place.kf(
                ["process", "in.png", "-o", "out.\(format)", "--process", "round(0)"] + arguments
            )
            #expect(result.status == 0, "\(result.errors)")
            return try Self.psnr(lines, #require(KFCrossPlatformImage(data: place.data("out.\(format)"))))
        }
        #expect(try await quality() < 20)
        #expect(try await quality("--subsampling", "444") > 30)
        #expect(try await quality("-q95") > 30)
        #expect(try await quality("-q95", "--subsampling", "420") < 20)
    }

    @Test("--subsampling changes nothing in formats without it") func noSubsampling() async throws {
        try place.write(SampleImages.jpeg(), "in.jpg")
        try place.write(SampleImages.png(), "in.png")
        func written(_ input: String, _ name: String, _ arguments: String...) async throws -> Data {
            let result = try await place.kf(["fetch", input, "-o", name] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return try place.data(name)
        }
        let lossless = try await written("in.png", "a.webp", "-q100")
        #expect(try await written("in.png", "b.webp", "-q100", "--subsampling", "420") == lossless)
        #expect(try await written("a.webp", "c.webp", "--subsampling", "420") == lossless)
        #expect(try await written("in.png", "b.png", "--subsampling", "420") == SampleImages.png())
        #expect(try await written("in.jpg", "b.jpg", "--subsampling", "420") != SampleImages.jpeg())
    }

    @Test("--progressive and --effort change how files are coded, in the formats that have them")
    func encoders() async throws {
        try place.write(SampleImages.jpeg(), "in.jpg")
        try place.write(SampleImages.png(), "in.png")
        func written(_ input: String, _ name: String, _ arguments: String...) async throws -> Data {
            let result = try await place.kf(["fetch", input, "-o", name] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            return try place.data(name)
        }
        #expect(try await written("in.jpg", "a.jpg", "--progressive").firstRange(of: Data([0xFF, 0xC2, 0, 17])) != nil)
        #expect(try await written("in.png", "a.png", "--progressive")[28] == 1)
        #expect(try await written("in.png", "b.png", "--effort", "0") == SampleImages.png())
        for format in ["webp", "avif"] {
            let usual = try await written("in.jpg", "a.\(format)")
            let slow = try await written("in.jpg", "b.\(format)", "--effort", "10")
            #expect(slow != usual, "\(format)")
        }
    }

    /// The ratio of the largest to the mean error of opaque images of one size, in decibels.
    private static func psnr(_ one: KFCrossPlatformImage, _ other: KFCrossPlatformImage) throws -> Double {
        let (one, other) = (try #require(one.cgImage), try #require(other.cgImage))
        let sum = one.withUnsafeBytes { first in
            other.withUnsafeBytes { second in
                (0..<one.height).reduce(0) { sum, y in
                    (0..<one.width * 4).reduce(sum) { sum, x in
                        let (a, b) = (first[y * one.bytesPerRow + x], second[y * other.bytesPerRow + x])
                        return sum + (Int(a) - Int(b)) * (Int(a) - Int(b))
                    }
                }
            }
        }
        return 10 * log10(255 * 255 * Double(3 * one.width * one.height) / Double(max(sum, 1)))
    }
}
