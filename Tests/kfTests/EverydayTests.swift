// The tasks that people do with image tools every week, each by one command line of `kf`, with its result checked.

import Foundation
import KFImaging
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct EverydayTests {
    let place = TestDirectory()

    // MARK: Running and looking

    /// Runs a command line, written with spaces between its words; nothing may go wrong.
    @discardableResult
    private func kf(_ line: String, input: Data? = nil) async throws -> KFResult {
        let result = try await place.kf(line.split(separator: " ").map(String.init), input: input)
        #expect(result.status == 0 && result.errors == "", "\(line): \(result.errors)")
        return result
    }

    private func info(_ name: String) throws -> ImageInfo { try ImageInfo(data: place.data(name)) }

    private func expect(_ name: String, _ type: ImageContentType, _ width: Int, _ height: Int) throws {
        let info = try info(name)
        #expect(info.contentType == type && (info.pixelWidth, info.pixelHeight) == (width, height), "\(name): \(info)")
        #expect(info.orientation == .up)
    }

    private func bitmap(_ name: String) throws -> Bitmap {
        try #require(KFCrossPlatformImage(data: place.data(name))?.cgImage)
    }

    /// A pixel as `0xAARRGGBB`, multiplied by alpha.
    private func pixel(_ name: String, _ x: Int, _ y: Int) throws -> UInt32 {
        let bitmap = try bitmap(name)
        return bitmap.withUnsafeBytes { bytes in
            bytes.loadUnaligned(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self)
        }
    }

    /// How alike a file and an image are, as PSNR in decibels.
    private func psnr(_ name: String, _ image: KFCrossPlatformImage) throws -> Double {
        ImageComparison.psnr(try bitmap(name), try #require(image.cgImage)) ?? 0
    }

    private static let (red, green, blue, white): (UInt32, UInt32, UInt32, UInt32) =
        (0xFFFF_0000, 0xFF00_FF00, 0xFF00_00FF, 0xFFFF_FFFF)

    /// Four colours: red and green above blue and white.
    private func writeQuarters(_ name: String) throws {
        let image = SampleImages.drawn(40, 20) { x, y in
            y < 10 ? (x < 20 ? Self.red : Self.green) : (x < 20 ? Self.blue : Self.white)
        }
        try place.write(try #require(image.pngData()), name)
    }

    private let photo = SampleImages.gradient(120, 80)

    private func writePhoto(_ name: String = "photo.jpg") throws {
        let data = name.hasSuffix(".png") ? photo.pngData() : photo.jpegData(compressionQuality: 0.95)
        try place.write(try #require(data), name)
    }

    // MARK: Formats

    @Test("Convert an image to another format", arguments: ["webp", "avif", "jpg", "png", "gif"])
    func convert(ending: String) async throws {
        try writePhoto("photo.png")
        try await kf("process photo.png -o out.\(ending)")
        try expect("out.\(ending)", try #require(ImageContentType(fileExtension: ending)), 120, 80)
        #expect(try psnr("out.\(ending)", photo) > (ending == "gif" ? 25 : 35))
    }

    @Test("Convert a folder with the folders in it") func convertFolder() async throws {
        for folder in ["photos/2024/may", "photos/2025"] {
            try FileManager.default.createDirectory(atPath: place.path(folder), withIntermediateDirectories: true)
            try writePhoto("\(folder)/a.jpg")
        }
        try await kf("process photos -o web --recursive --format webp")
        #expect(place.files("web").sorted() == ["2024/may/a.webp", "2025/a.webp"])
        try expect("web/2024/may/a.webp", .webp, 120, 80)
    }

    @Test("Make a file smaller by its quality") func quality() async throws {
        try writePhoto()
        try await kf("process photo.jpg -o small.jpg -q 40")
        #expect(try place.data("small.jpg").count < place.data("photo.jpg").count)
        #expect(try psnr("small.jpg", photo) > 28)
    }

    @Test("Store an image without loss", arguments: ["webp", "avif", "png"]) func lossless(ending: String) async throws
    {
        try writePhoto("photo.png")
        try await kf("process photo.png -o out.\(ending) --lossless")
        #expect(try ShownPixels(bitmap("out.\(ending)")).colors == ShownPixels(bitmap("photo.png")).colors)
    }

    @Test("Turn an animated GIF into WebP") func animation() async throws {
        try place.write(SampleImages.gif(), "a.gif")
        try await kf("process a.gif -o a.webp")
        let (gif, webp) = (try info("a.gif"), try info("a.webp"))
        #expect(webp.contentType == .webp && webp.frameCount == 2)
        #expect(webp.duration == gif.duration && webp.loopCount == gif.loopCount)
        #expect(webp.pixelWidth == gif.pixelWidth)
    }

    @Test("Take the first frame of an animation") func firstFrame() async throws {
        let frames = [SampleImages.gradient(30, 20), SampleImages.gradient(30, 20, blue: 200)]
        try place.write(SampleImages.gif(frames), "a.gif")
        try await kf("process a.gif -o a.png --still")
        try expect("a.png", .png, 30, 20)
        #expect(try info("a.png").frameCount == 1)
        let likenesses = try frames.map { try psnr("a.png", $0) }
        #expect(likenesses[0] > 25 && likenesses[0] > likenesses[1] + 5)
    }

    // MARK: Sizes

    @Test("Make a thumbnail that fits a box") func thumbnail() async throws {
        try writePhoto()
        try await kf("process photo.jpg -o thumb.jpg --process thumbnail(30x30)")
        try expect("thumb.jpg", .jpeg, 30, 20)
        #expect(try psnr("thumb.jpg", SampleImages.gradient(30, 20)) > 30)
    }

    @Test("Make a square thumbnail that is full") func squareThumbnail() async throws {
        try writePhoto("photo.png")
        try await kf("process photo.png -o thumb.png --process thumbnail(40x40,fill)")
        try expect("thumb.png", .png, 40, 40)
        // The middle of the image: a sixth of its red is cut off on the left.
        let red = try pixel("thumb.png", 0, 20) >> 16 & 255
        #expect((38...50).contains(red), "\(red)")
    }

    @Test("Resize to a width, and crop the middle") func resizeAndCrop() async throws {
        try writePhoto("photo.png")
        try await kf("process photo.png -o wide.png --process resize(240x)")
        try expect("wide.png", .png, 240, 160)
        try await kf("process photo.png -o part.png --process crop(60x40)")
        try expect("part.png", .png, 60, 40)
        #expect(try pixel("part.png", 0, 0) == pixel("photo.png", 30, 20))
    }

    @Test("Make the images of a srcset") func srcset() async throws {
        try writePhoto()
        try await kf("process photo.jpg -o photo-{width}.webp --widths 30,60,90")
        for width in [30, 60, 90] { try expect("photo-\(width).webp", .webp, width, width * 2 / 3) }
        #expect(try psnr("photo-60.webp", SampleImages.gradient(60, 40)) > 30)
    }

    @Test("Cut off a border of one colour") func trim() async throws {
        let image = SampleImages.drawn(60, 40) { x, y in
            (10..<50).contains(x) && (5..<35).contains(y) ? Self.blue : Self.white
        }
        try place.write(try #require(image.pngData()), "a.png")
        try await kf("process a.png -o b.png --process trim()")
        try expect("b.png", .png, 40, 30)
        #expect(try pixel("b.png", 0, 0) == Self.blue)
    }

    // MARK: Turning and drawing

    @Test("Rotate and mirror") func rotate() async throws {
        try writeQuarters("a.png")
        try await kf("process a.png -o turned.png --process rotate(90)")
        try expect("turned.png", .png, 20, 40)
        #expect(
            try [(2, 2), (17, 2), (2, 37), (17, 37)].map { try pixel("turned.png", $0, $1) }
                == [Self.blue, Self.red, Self.white, Self.green]
        )
        try await kf("process a.png -o mirrored.png --process flip(h)")
        #expect(try pixel("mirrored.png", 2, 2) == Self.green)
    }

    @Test("Turn a photo upright, as its camera says") func upright() async throws {
        let jpeg = try #require(SampleImages.gradient(80, 40).jpegData(compressionQuality: 0.95))
        try place.write(SampleEXIF(isLittleEndian: true).added(toJPEG: jpeg), "a.jpg")
        try await kf("process a.jpg -o b.png")
        try expect("b.png", .png, 40, 80)
        // The left edge of the file, where red is least, is on top.
        #expect(try pixel("b.png", 20, 2) >> 16 & 255 < 30 && pixel("b.png", 20, 77) >> 16 & 255 > 220)
    }

    @Test("Put white behind a transparent image") func background() async throws {
        try place.write(SampleImages.png(), "a.png")
        #expect(try pixel("a.png", 0, 0) == 0)
        try await kf("process a.png -o b.png --process blend(normal,1,#fff)")
        #expect(try pixel("b.png", 0, 0) == Self.white)
        #expect(try pixel("b.png", 24, 16) == pixel("a.png", 24, 16))
    }

    @Test("Make a round portrait") func circle() async throws {
        try writePhoto()
        try await kf("process photo.jpg -o me.png --process thumbnail(40x40,fill)|>circle()")
        try expect("me.png", .png, 40, 40)
        #expect(try pixel("me.png", 0, 0) >> 24 == 0 && pixel("me.png", 20, 20) >> 24 == 255)
    }

    // MARK: Metadata

    @Test("Remove metadata, or keep what is no secret") func metadata() async throws {
        try place.write(SampleEXIF(isLittleEndian: false).added(toJPEG: SampleImages.jpeg()), "a.jpg")
        try await kf("process a.jpg -o none.jpg")
        try await kf("process a.jpg -o kept.jpg --keep exif")
        for (name, words) in [("a.jpg", ["MakerX", "LATITUDE"]), ("none.jpg", []), ("kept.jpg", ["MakerX"])] {
            let data = try place.data(name)
            #expect(["MakerX", "LATITUDE"].filter { data.range(of: Data($0.utf8)) != nil } == words, "\(name)")
        }
    }

    @Test("List the sizes of images as a table") func table() async throws {
        try writePhoto("a.png")
        try place.write(SampleImages.gif(), "b.gif")
        let rows = try await kf("info a.png b.gif --csv").output.split(separator: "\n").map { $0.split(separator: ",") }
        let columns = try ["source", "format", "width", "height"].map { name in
            try #require(rows[0].firstIndex { $0 == name })
        }
        #expect(
            rows.dropFirst().map { row in columns.map { row[$0] } }
                == [["a.png", "png", "120", "80"], ["b.gif", "gif", "30", "20"]]
        )
    }

    @Test("Make the placeholder of an image for a page") func placeholder() async throws {
        try writePhoto()
        let hash = try await kf("hash photo.jpg").output.prefix { $0 != "\t" }
        let image = try #require(KFCrossPlatformImage(blurHash: String(hash), size: CGSize(width: 12, height: 8)))
        let small = SampleImages.gradient(12, 8)
        let likeness = ImageComparison.psnr(try #require(image.cgImage), try #require(small.cgImage))
        #expect(likeness ?? 0 > 20)
    }

    // MARK: Files that are there

    @Test("Shrink many files in place") func inPlace() async throws {
        for name in ["a.jpg", "b.jpg"] { try writePhoto(name) }
        try await kf("process a.jpg b.jpg --in-place --process thumbnail(60x)")
        for name in ["a.jpg", "b.jpg"] { try expect(name, .jpeg, 60, 40) }
        #expect(place.files(".").filter { $0.hasSuffix("jpg") || $0.contains(".kf-") }.sorted() == ["a.jpg", "b.jpg"])
    }

    @Test("Look first, and do only what has not been done") func again() async throws {
        for name in ["a.png", "b.png"] { try writePhoto(name) }
        #expect(
            try await kf("process a.png b.png -o out --dry-run --format webp").output
                == "a.png → out/a.webp\nb.png → out/b.webp\n"
        )
        #expect(place.files("out") == [])
        try await kf("process a.png -o out/ --format webp")
        let line = "process a.png b.png -o out --format webp --skip-existing"
        #expect(try await kf(line).output.hasPrefix("a.png: skipped, out/a.webp is there\nb.png: 120×80, WebP"))
        #expect(
            try await kf(line.replacing("--skip-existing", with: "--update")).output
                == "a.png: skipped, out/a.webp is there\nb.png: skipped, out/b.webp is there\n"
        )
    }

    // MARK: From elsewhere

    @Test("Fetch an image and make it smaller") func fetch() async throws {
        let server = try await TestServer.start()
        server.route("/photo.jpg", .data(try #require(photo.jpegData(compressionQuality: 0.95))))
        try await kf("fetch \(server.url("/photo.jpg")) -o small.webp --process thumbnail(60x) --quiet")
        await server.stop()
        try expect("small.webp", .webp, 60, 40)
        #expect(try psnr("small.webp", SampleImages.gradient(60, 40)) > 30)
    }

    @Test("Be one command of a pipe") func pipe() async throws {
        let input = try #require(photo.pngData())
        let result = try await kf("process - -o - --format jpeg --process thumbnail(30x) --quiet", input: input)
        try place.write(result.data, "out.jpg")
        try expect("out.jpg", .jpeg, 30, 20)
    }
}
