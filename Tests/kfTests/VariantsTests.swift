// The command `kf variants`, run in a process of its own.

import Foundation
import KFImaging
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct VariantsTests {
    let place = TestDirectory()

    @Test("Each width is written in each format, upright and without metadata, and there is a line for each file")
    func files() async throws {
        let source = SampleEXIF(isLittleEndian: true).added(toJPEG: try SampleImages.jpeg(120, 180))
        try place.write(source, "a photo.jpg")
        let result = try await place.kf([
            "variants", "a photo.jpg", "--widths", "60,30", "--formats", "webp,jpeg", "-o", "out",
        ])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let names = ["a photo-30.jpg", "a photo-30.webp", "a photo-60.jpg", "a photo-60.webp"]
        #expect(place.files("out").sorted() == names)
        for name in names {
            let data = try place.data("out/\(name)")
            let info = try ImageInfo(data: data)
            #expect(name.contains("-\(info.pixelWidth).") && info.pixelHeight == info.pixelWidth * 2 / 3)
            #expect(info.contentType == (name.hasSuffix("webp") ? .webp : .jpeg))
            #expect(data.range(of: Data("MakerX".utf8)) == nil)
        }
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix("a photo.jpg: 30×20, WebP, "))
        #expect(lines[0].hasSuffix(" → out/a photo-30.webp"))
        let paths = lines.map { String($0.split(separator: "→ ").last ?? "") }
        #expect(paths == ["30.webp", "30.jpg", "60.webp", "60.jpg"].map { "out/a photo-\($0)" })
        // Files that are there are replaced.
        #expect(try await place.kf("variants", "a photo.jpg", "--widths", "30", "-o", "out", "-q", "20").status == 0)
        #expect(place.files("out").sorted() == names)
    }

    @Test("--html prints a picture whose URLs lead to the files")
    func html() async throws {
        try place.write(SampleImages.jpeg(120, 80), "é&1.jpg")
        let result = try await place.kf([
            "variants", "é&1.jpg", "--widths", "30,60", "--formats", "webp,jpeg", "-o", "out/{width}/{name}.{ext}",
            "--html", "--alt", "\"A\" & B", "--sizes", "50vw", "--url-prefix", "/photos", "--quiet",
        ])
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 4)
        #expect(lines[0] == "<picture>" && lines[3] == "</picture>")
        let webp = "/photos/30/%C3%A9%261.webp 30w, /photos/60/%C3%A9%261.webp 60w"
        #expect(lines[1].contains("type=\"image/webp\" srcset=\"\(webp)\" sizes=\"50vw\""), "\(lines[1])")
        #expect(
            lines[2].contains("src=\"/photos/60/%C3%A9%261.jpg\"") && lines[2].contains("width=\"60\" height=\"40\"")
        )
        #expect(lines[2].contains("alt=\"&quot;A&quot; &amp; B\""))
        #expect(place.files("out").sorted() == ["30/é&1.jpg", "30/é&1.webp", "60/é&1.jpg", "60/é&1.webp"])
        let plain = try await place.kf("variants", "é&1.jpg", "--widths", "30", "-o", "flat", "--html")
        #expect(plain.output.contains("src=\"%C3%A9%261-30.jpg\""), "\(plain.output)")
    }

    @Test("--json prints everything that is known of an image in one object")
    func json() async throws {
        let jpeg = try SampleImages.jpeg(120, 180)
        try place.write(SampleEXIF(isLittleEndian: false).added(toJPEG: jpeg), "a.jpg")
        let result = try await place.kf([
            "variants", "missing.jpg", "a.jpg", "--widths", "30", "--formats", "avif", "-o", "{name}", "--json",
            "--html",
        ])
        #expect(result.status == 1 && result.errorLines.count == 1)
        let objects = try result.objects
        try #require(objects.count == 2)
        #expect((objects[0]["error"] as? [String: Any])?["code"] as? Int == 5003)
        let facts = objects[1]
        #expect(
            facts.keys.sorted() == [
                "alpha", "blurHash", "bytes", "colorProfile", "colors", "damaged", "duration", "exif", "files",
                "format",
                "frames", "height", "html", "loopCount", "orientation", "perceptualHash", "source", "thumbHash",
                "width",
            ]
        )
        #expect(facts["width"] as? Int == 180 && facts["height"] as? Int == 120 && facts["orientation"] as? Int == 6)
        #expect(
            facts["format"] as? String == "jpeg" && facts["frames"] as? Int == 1 && facts["damaged"] as? Bool == false
        )
        let exif = try #require(facts["exif"] as? [String: Any])
        #expect(exif["camera"] as? String == "MakerX" && exif["date"] as? String == "2024-05-06T07:08:09")
        #expect(exif["lens"] is NSNull && exif["location"] is Bool)
        let thumbHash = try #require((facts["thumbHash"] as? String).flatMap { Data(base64Encoded: $0) })
        #expect(Image(thumbHash: thumbHash) != nil && (facts["blurHash"] as? String)?.count == 28)
        #expect((facts["perceptualHash"] as? String).flatMap(PerceptualHash.init) != nil)
        let colors = try #require(facts["colors"] as? [[String: Any]])
        #expect(colors.count == 5 && (colors[0]["color"] as? String)?.count == 7 && colors[0]["share"] is Double)
        let file = try #require((facts["files"] as? [[String: Any]])?.first)
        #expect(file["output"] as? String == "a.avif" && file["format"] as? String == "avif")
        #expect(file["width"] as? Int == 30 && file["height"] as? Int == 20 && file["frames"] as? Int == 1)
        #expect(try file["bytes"] as? Int == place.data("a.avif").count)
        #expect((facts["html"] as? String)?.contains("src=\"a.avif\"") == true)
    }

    @Test("Images are not enlarged, and animations lose their frames only with a warning")
    func warnings() async throws {
        try place.write(SampleImages.gif(), "b.gif")
        let result = try await place.kf([
            "variants", "b.gif", "--widths", "15,400,900", "--formats", "webp,png,jpeg", "-o", "out/",
        ])
        #expect(result.status == 0)
        #expect(
            result.errors == """
                kf: warning: b.gif: the image is 30 pixels wide, and written so in place of 400 and more
                kf: warning: b.gif: only the first of 2 frames was written as JPEG, which holds no animations here; \
                --still takes one frame for all formats

                """
        )
        for (name, frames) in [("b-15.webp", 2), ("b-30.png", 2), ("b-30.jpg", 1)] {
            #expect(try ImageInfo(data: place.data("out/\(name)")).frameCount == frames)
        }
        let still = try await place.kf("variants", "b.gif", "--widths", "15", "--formats", "webp", "-o", "s", "--still")
        #expect(still.errors == "")
        #expect(try ImageInfo(data: place.data("s/b-15.webp")).frameCount == 1)
    }

    @Test("EXIF data is kept where it is asked for, and damaged images are failures with --strict")
    func options() async throws {
        let jpeg = SampleEXIF(isLittleEndian: true).added(toJPEG: try SampleImages.jpeg(120, 180))
        try place.write(jpeg, "a.jpg")
        try place.write(jpeg.prefix(jpeg.count * 2 / 3), "cut.jpg")
        let kept = try await place.kf("variants", "a.jpg", "--widths", "30", "-o", "out", "--keep", "exif")
        #expect(kept.status == 0 && kept.errors == "")
        let data = try place.data("out/a-30.jpg")
        #expect(try PhotoInfo(data: data)?.camera == "MakerX")
        #expect(try ImageInfo(data: data).orientation == .up)
        let cut = ["variants", "cut.jpg", "--widths", "30", "-o", "out"]
        let strict = try await place.kf(cut + ["--strict"])
        #expect(strict.status == 1 && strict.errors.contains("(code 9008)") && place.files("out") == ["a-30.jpg"])
        let loose = try await place.kf(cut)
        #expect(loose.status == 0 && loose.errors.contains("a part of it is missing"))
    }

    @Test("A file whose extension is another format's is refused with what to do, and taken where it is allowed")
    func wrongExtension() async throws {
        try place.write(SampleImages.png(), "a.jpg")
        let arguments = ["variants", "a.jpg", "--widths", "20", "-o", "out"]
        let refused = try await place.kf(arguments)
        #expect(refused.status == 1 && refused.errorLines.count == 1, "\(refused.errors)")
        #expect(refused.errors.contains("the image is PNG; rename it, or use --any-extension"), "\(refused.errors)")
        #expect(refused.errors.hasSuffix("(code 9014)\n") && place.files("out") == [])
        let taken = try await place.kf(arguments + ["--any-extension"])
        #expect(taken.status == 0 && place.files("out") == ["a-20.png"], "\(taken.errors)")
        // A name without an extension, and one of no image format.
        for name in ["a", "a.txt"] {
            try place.write(SampleImages.png(), name)
            #expect(try await place.kf("variants", name, "--widths", "20", "-o", "out").status == 0)
        }
    }

    @Test("A width that its format does not hold is a failure that names the format") func tooWide() async throws {
        try place.write(SampleImages.png(16_384, 2), "a.png")
        let result = try await place.kf("variants", "a.png", "--widths", "16384", "--formats", "webp", "-o", "out/")
        #expect(result.status == 1 && result.errors.contains("longest side of WebP = 16383"), "\(result.errors)")
        #expect(result.errors.hasSuffix("(code 9003)\n"), "\(result.errors)")
    }

    @Test(
        "Bytes that are no image, that exceed a limit, or files that cannot be written are failures",
        arguments: [
            ("in.txt", [], 9004), ("in.png", ["--max-pixels", "100"], 4001), ("in.png", ["-o", "file/x"], 9002),
        ]
    )
    func failures(source: String, options: [String], code: Int) async throws {
        try place.write(Data("hello".utf8), "in.txt")
        try place.write(Data("hello".utf8), "file")
        try place.write(SampleImages.png(), "in.png")
        let output = options.contains("-o") ? [] : ["-o", "out"]
        let result = try await place.kf(["variants", source, "--widths", "20"] + options + output)
        #expect(result.status == 1 && result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
        #expect(place.files("out") == [])
    }

    @Test(
        "What cannot be meant is a usage error",
        arguments: [
            (["-o", "-"], "will be several"), (["-o", "in.png"], "will be several"),
            (["-o", "x.webp"], "will be several"),
            (["-o", "{name}.webp"], "has no {width}"), (["-o", "{name}-{width}.ico"], "see kf process"),
            (["-o", "{width}.webp", "--formats", "webp,jpeg"], "is not the one of --formats"),
            (["-o", "x", "--formats", "webp,ico"], "--formats must be some of"),
            (["-o", "x", "--formats", "jpeg", "--lossless"], "--lossless does not work with JPEG"),
            (["-o", "x", "--alt", "a"], "--alt is for --html"), (["-o", "x", "-q", "101"], "--quality must be"),
        ]
    )
    func usage(options: [String], words: String) async throws {
        try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf(["variants", "in.png", "--widths", "20,40"] + options)
        #expect(result.status == 2 && result.errors.contains(words), "\(result.errors)")
    }
}
