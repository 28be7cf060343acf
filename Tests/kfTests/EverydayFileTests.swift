// Everyday tasks with files to look at: comparing, contact sheets, sizes, icons, and what cameras note; done by the
// tool in a process of its own.

import Foundation
import KFImaging
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct EverydayFileTests {
    let place = TestDirectory()

    /// Writes an image of a function as PNG.
    private func write(
        _ name: String,
        _ width: Int,
        _ height: Int,
        _ color: (_ x: Int, _ y: Int) -> UInt32
    ) throws {
        try place.write(try #require(SampleImages.drawn(width, height, color).pngData()), name)
    }

    private func bitmap(_ name: String) throws -> Bitmap {
        try #require(KFCrossPlatformImage(data: try place.data(name))?.cgImage)
    }

    private func pixel(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> UInt32 {
        bitmap.withUnsafeBytes { $0.load(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self) }
    }

    // MARK: Comparing

    @Test("Equal images of two formats are equal; others are not, and the image of the difference shows where")
    func compare() async throws {
        try write("one.png", 20, 10) { _, _ in 0xFF40_4040 }
        try write("two.png", 20, 10) { x, y in x == 3 && y == 4 ? 0xFF40_5440 : 0xFF40_4040 }
        _ = try await place.kf("process", "one.png", "-o", "one.webp", "--process", "resize(20x)", "--lossless")
        let equal = try await place.kf("compare", "one.png", "one.webp")
        #expect(equal.status == 0 && equal.errors == "", "\(equal.errors)")
        #expect(equal.output.contains("infinite") && equal.output.contains("result        equal"), "\(equal.output)")
        let other = try await place.kf("compare", "one.png", "two.png", "-o", "difference.png", "--json")
        #expect(other.status == 1 && other.errors == "")
        let object = try #require(try other.objects.first)
        #expect(object["differing"] as? Int == 1 && object["largest"] as? Int == 20)
        #expect(object["width"] as? Int == 20 && object["height"] as? Int == 10)
        #expect(object["equal"] as? Bool == false && object["alike"] as? Bool == false)
        #expect(object["sourceBytes"] as? Int == (try place.data("one.png").count))
        #expect(object["otherBytes"] as? Int == (try place.data("two.png").count))
        // 20² over 200 pixels of three components.
        let psnr = try #require(object["psnr"] as? Double)
        #expect(abs(psnr - 10 * log10(255 * 255 * 600 / 400)) < 1e-6)
        let difference = try bitmap("difference.png")
        #expect(pixel(difference, 3, 4) == 0xFF00_FF00 && pixel(difference, 4, 4) == 0xFF00_0000)
    }

    @Test(
        "A threshold is a PSNR, or up to 1 an SSIM",
        arguments: [("20", 0), ("99", 1), ("0.5", 0), ("0.99999", 1), ("1", 1)]
    )
    func threshold(value: String, status: Int32) async throws {
        try place.write(try #require(SampleImages.gradient(60, 40).pngData()), "in.png")
        try place.write(SampleImages.jpeg(60, 40), "in.jpg")
        #expect(try await place.kf("compare", "in.png", "in.jpg", "--threshold", value).status == status)
        #expect(try await place.kf("compare", "in.png", "in.png", "--threshold", value).status == 0)
    }

    @Test("Images of different sizes, and files that are none, are errors that name them")
    func compareErrors() async throws {
        try write("one.png", 20, 10) { _, _ in 0xFF40_4040 }
        try write("two.png", 10, 20) { _, _ in 0xFF40_4040 }
        let sizes = try await place.kf("compare", "one.png", "two.png")
        #expect(sizes.status == 1 && sizes.output == "")
        #expect(
            sizes.errors == """
                kf: one.png has 20×10 pixels and two.png 10×20; make one as large as the other first, with kf process \
                (code 9011)

                """
        )
        let missing = try await place.kf("compare", "one.png", "three.png", "--json")
        #expect(missing.status == 1)
        #expect(missing.errors == "kf: three.png: cannot be read: No such file or directory (code 5003)\n")
        #expect(((try missing.objects.first)?["error"] as? [String: Any])?["code"] as? Int == 5003)
        #expect(try await place.kf("compare", "one.png", "two.png", "--threshold", "-1").status == 2)
        #expect(try await place.kf("compare", "one.png", "two.png", "-o", "a.txt.heic").status == 2)
        #expect(missing.output.contains(#""source":"three.png""#), "\(missing.output)")
        let two = try place.data("two.png")
        let replacing = try await place.kf("compare", "one.png", "two.png", "-o", "./two.png")
        #expect(replacing.status == 2 && replacing.errors.contains("-o ./two.png is one of the images"))
        #expect(try place.data("two.png") == two)
    }

    // MARK: Contact sheets

    @Test("A contact sheet has each image in the middle of its cell, in order") func sheet() async throws {
        let colors: [UInt32] = [0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF]
        for (index, color) in colors.enumerated() { try write("\(index).png", 80, 40) { _, _ in color } }
        try write("3.png", 4, 4) { _, _ in 0 }
        let images = ["0.png", "1.png", "2.png", "3.png"]
        let arguments = ["sheet"] + images + ["-o", "sheet.png", "--cell", "40x40", "--gap", "5"]
        let result = try await place.kf(arguments + ["--columns", "3", "--background", "#102030"])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(result.output.hasPrefix("4 images: 140×95, PNG"), "\(result.output)")
        let sheet = try bitmap("sheet.png")
        #expect(sheet.width == 140 && sheet.height == 95)
        for (index, color) in colors.enumerated() {
            let left = 5 + index * 45
            // 40 × 20 pixels in a cell of 40 × 40.
            #expect(pixel(sheet, left, 15) == color && pixel(sheet, left + 39, 34) == color)
            #expect(pixel(sheet, left, 14) == 0xFF10_2030 && pixel(sheet, left - 1, 15) == 0xFF10_2030)
        }
        // A small image is not enlarged, and a transparent one shows the background.
        #expect((50..<95).allSatisfy { y in (0..<140).allSatisfy { pixel(sheet, $0, y) == 0xFF10_2030 } })
        let square = try await place.kf(arguments + ["--json"])
        #expect(try square.objects.first?["width"] as? Int == 95 && square.objects.first?["images"] as? Int == 4)
        #expect(pixel(try bitmap("sheet.png"), 0, 0) == 0xFFFF_FFFF)
    }

    @Test("A contact sheet leaves out what fails, and says so") func sheetErrors() async throws {
        try write("in.png", 8, 8) { _, _ in 0xFFFF_0000 }
        let result = try await place.kf("sheet", "missing.png", "in.png", "-o", "sheet.png", "--cell", "8x8")
        #expect(result.status == 1 && result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("kf: missing.png: cannot be read"), "\(result.errors)")
        #expect(try bitmap("sheet.png").width == 28)
        #expect(try await place.kf("sheet", "missing.png", "-o", "none.png").status == 1)
        #expect(!FileManager.default.fileExists(atPath: place.path("none.png")))
        let large = try await place.kf("sheet", "in.png", "-o", "large.png", "--max-pixels", "1000")
        #expect(large.errors.contains("it would have 220×220 pixels; make cells smaller"), "\(large.errors)")
        #expect(try await place.kf("sheet", "in.png", "-o", "./in.png").status == 2)
        for wrong in [["--cell", "8"], ["--cell", "0x8"], ["--columns", "0"], ["--background", "reddish"]] {
            #expect(try await place.kf(["sheet", "in.png", "-o", "none.png"] + wrong).status == 2)
        }
    }

    // MARK: At most so many bytes

    @Test("--max-size finds the highest quality that is small enough", arguments: ["jpg", "webp", "avif"])
    func maxSize(ending: String) async throws {
        try place.write(SampleImages.jpeg(240, 160), "in.jpg")
        func written(_ options: [String]) async throws -> Data {
            let arguments = ["process", "in.jpg", "-o", "out.\(ending)", "--process", "rotate(3)"]
            let result = try await place.kf(arguments + options)
            #expect(result.status == 0, "\(result.errors)")
            return try place.data("out.\(ending)")
        }
        let (wanted, worse) = (try await written(["-q", "60"]), try await written(["-q", "40"]))
        // The limit is what the quality 60 takes; WebP does not grow with each step.
        let found = try await written(["--max-size", "\(wanted.count)"])
        #expect(found.count <= wanted.count && found.count > worse.count)
        #expect(found == wanted || ending == "webp")
    }

    @Test("Sizes have units, and where nothing is small enough the error says how small it gets")
    func maxSizeErrors() async throws {
        try place.write(SampleImages.jpeg(240, 160), "in.jpg")
        let arguments = ["process", "in.jpg", "-o", "out.jpg", "--process", "rotate(3)"]
        for size in ["200k", "0.2M", "200 KB", "200Ki", "200000"] {
            #expect(try await place.kf(arguments + ["--max-size", size]).status == 0)
        }
        for wrong in ["", "k", "-1", "0", "1x", "1i"] {
            #expect(try await place.kf(arguments + ["--max-size=\(wrong)"]).status == 2, "\(wrong)")
        }
        #expect(try await place.kf(arguments + ["--max-size", "9k", "-q", "3"]).status == 2)
        try FileManager.default.removeItem(atPath: place.path("out.jpg"))
        let worst = try await place.kf("process", "in.jpg", "-o", "worst.jpg", "--process", "rotate(3)", "-q", "0")
        #expect(worst.status == 0)
        let smallest = try place.data("worst.jpg").count
        let refused = try await place.kf(arguments + ["--max-size", "100"])
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains("of at most 100 bytes: the smallest file, of quality 0, has \(smallest) bytes"),
            "\(refused.errors)"
        )
        #expect(!FileManager.default.fileExists(atPath: place.path("out.jpg")))
        let png = try await place.kf(arguments + ["--max-size", "100", "--format", "png"])
        #expect(png.errors.contains("no quality; use --format jpeg, webp or avif"), "\(png.errors)")
    }

    @Test("Original bytes that are small enough are copied, and others are not") func maxSizeOfCopies() async throws {
        let original = try SampleImages.jpeg(240, 160)
        try place.write(original, "in.jpg")
        _ = try await place.kf("fetch", "in.jpg", "-o", "out.jpg", "--max-size", "\(original.count)")
        #expect(try place.data("out.jpg") == original)
        _ = try await place.kf("fetch", "in.jpg", "-o", "out.jpg", "--max-size", "\(original.count - 1)")
        #expect(try place.data("out.jpg").count < original.count)
    }

    @Test("--max-size and --max-bytes name each other") func helpOfSizes() async throws {
        let words = try await place.kf("process", "--help").output.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("Not to be confused with --max-bytes"))
        #expect(words.contains("what is written is limited by --max-size"))
    }

    // MARK: What cameras note, and colours

    /// The block that Pillow writes with these fields, a maker, a model, a lens, a date, an exposure and a latitude.
    ///
    ///     e = Image.Exif(); e[0x010F] = "Canon"; e[0x0110] = "Canon EOS R5"; d = e.get_ifd(0x8769)
    ///     d.update({0x9003: "2026:05:17 18:04:09", 0x9011: "+02:00", 0x829A: R(1, 250), 0x829D: R(28, 10),
    ///               0x8827: 400, 0x920A: R(50, 1), 0xA434: "RF50mm F1.2 L USM"})
    ///     e.get_ifd(0x8825).update({1: "N", 2: (R(48, 1), R(8, 1), R(0, 1))}); e.tobytes()
    private static let exif = """
        RXhpZgAATU0AKgAAAAgABAEPAAIAAAAGAAAAPgEQAAIAAAANAAAARIdpAAQAAAABAAAAUoglAAQAAAABAAAA8gAAAABDYW5vbgBDYW5vbiBFT1Mg\
        UjUAAAAHgpoABQAAAAEAAACsgp0ABQAAAAEAAAC0iCcAAwAAAAEBkAAAkAMAAgAAABQAAAC8kBEAAgAAAAcAAADQkgoABQAAAAEAAADYpDQAAgAA\
        ABIAAADgAAAAAAAAAAEAAAD6AAAADgAAAAUyMDI2OjA1OjE3IDE4OjA0OjA5ACswMjowMAAAAAAAMgAAAAFSRjUwbW0gRjEuMiBMIFVTTQAAAgAB\
        AAIAAAACTgAAAAACAAUAAAADAAABEAAAAAAAAAAwAAAAAQAAAAgAAAABAAAAAAAAAAE=
        """

    @Test("kf info shows what the camera has noted, where it is asked") func infoOfEXIF() async throws {
        let block = try #require(Data(base64Encoded: Self.exif))
        let plain = try SampleImages.jpeg()
        let segment = Data([0xFF, 0xE1, UInt8((block.count + 2) >> 8), UInt8((block.count + 2) & 255)]) + block
        try place.write(plain.prefix(2) + segment + plain.dropFirst(2), "photo.jpg")
        try place.write(plain, "plain.jpg")
        let text = try await place.kf("info", "photo.jpg", "--exif")
        #expect(text.status == 0, "\(text.errors)")
        for line in [
            "camera       Canon EOS R5", "lens         RF50mm F1.2 L USM", "taken        2026-05-17 18:04:09+02:00",
            "exposure     1/250 s, f/2.8, ISO 400, 50 mm", "location     noted",
        ] { #expect(text.output.contains("  \(line)\n"), "\(text.output)") }
        let json = try await place.kf("info", "photo.jpg", "plain.jpg", "--exif", "--json")
        let objects = try json.objects
        let exif = try #require(objects.first?["exif"] as? [String: Any])
        #expect(exif["date"] as? String == "2026-05-17T18:04:09+02:00" && exif["iso"] as? Int == 400)
        #expect(exif["exposureTime"] as? Double == 0.004 && exif["location"] as? Bool == true)
        #expect(objects.last?["exif"] is NSNull)
        let silent = try await place.kf("info", "photo.jpg", "--json")
        #expect(try silent.objects.first?["exif"] == nil && silent.objects.first?["colors"] == nil)
    }

    @Test("Broken EXIF data gives what is readable of it") func brokenEXIF() throws {
        let block = try #require(Data(base64Encoded: Self.exif))
        for count in 0..<block.count { _ = PhotoInfo(exif: block.prefix(count)) }
        for place in 0..<block.count {
            var damaged = [UInt8](block)
            damaged[place] = 255
            _ = PhotoInfo(exif: Data(damaged))
        }
        #expect(PhotoInfo(exif: block)?.camera == "Canon EOS R5")
    }

    @Test("kf info shows the colours that stand for an image, and their shares") func infoOfColours() async throws {
        try write("in.png", 100, 20) { x, _ in x < 60 ? 0xFFE0_1020 : x < 90 ? 0xFF10_20E0 : 0 }
        let text = try await place.kf("info", "in.png", "--colors")
        #expect(
            text.output.contains("  colours      #e01020 66.7 %\n               #1020e0 33.3 %\n"),
            "\(text.output)"
        )
        let json = try await place.kf("info", "in.png", "--colors", "--json")
        let colors = try #require(try json.objects.first?["colors"] as? [[String: Any]])
        #expect(colors.map { $0["color"] as? String } == ["#e01020", "#1020e0"])
        #expect(colors.map { $0["share"] as? Double } == [0.6667, 0.3333])
        try place.write(SampleImages.jpeg(300, 200), "many.jpg")
        let many = try await place.kf("info", "many.jpg", "--colors", "--json").objects.first?["colors"]
        #expect((many as? [Any])?.count == 5)
    }

    // MARK: Icons

    @Test("An icon is written in several sizes, and read again") func icon() async throws {
        try write("logo.png", 300, 300) { _, _ in 0xFF20_40C0 }
        let result = try await place.kf("process", "logo.png", "-o", "favicon.ico", "--process", "round(0)")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("256×256, ICO"), "\(result.output)")
        let icon = try place.data("favicon.ico")
        #expect(icon.prefix(6) == Data([0, 0, 1, 0, 4, 0]))
        let widths: [UInt8] = (0..<4).map { icon[6 + $0 * 16] }
        #expect(widths == [16, 32, 48, 0])
        #expect(try bitmap("favicon.ico").width == 256)
        let small = try await place.kf(
            ["process", "logo.png", "-o", "small.ico", "--process", "round(0)", "--sizes", "24, 64", "--json"]
        )
        #expect(try small.objects.first?["width"] as? Int == 64, "\(small.errors)")
        for wrong in ["", "0", "16,257", "a"] {
            #expect(try await place.kf("fetch", "logo.png", "-o", "a.ico", "--sizes=\(wrong)").status == 2)
        }
    }
}
