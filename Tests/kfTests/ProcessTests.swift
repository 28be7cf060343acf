// The command `kf process`, run in a process of its own.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct ProcessTests {
    let place = TestDirectory()

    @Test("The processed image is written") func processedOutput() async throws {
        try place.write(SampleImages.jpeg(90, 60), "in.jpg")
        let result = try await place.kf([
            "process", "in.jpg", "-o", "out.png", "--process", "resize(30x30,aspectFit)|>round(50%)",
        ])
        #expect(result.status == 0, "\(result.errors)")
        let image = try #require(KFCrossPlatformImage(data: try place.data("out.png")))
        #expect(image.pixelWidth == 30)
        #expect(image.pixelHeight == 20)
        #expect(image.hasAlpha)
        #expect(place.files("home-cache") == [])
    }

    @Test("Without a pipeline images are converted, upright and without metadata", arguments: ["out.webp", "out.jpg"])
    func conversion(output: String) async throws {
        let source = SampleEXIF(isLittleEndian: true).added(toJPEG: try SampleImages.jpeg())
        try place.write(source, "in.jpg")
        let result = try await place.kf("process", "in.jpg", "-o", output)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        let data = try place.data(output)
        let info = try ImageInfo(data: data)
        #expect((info.pixelWidth, info.pixelHeight, info.orientation) == (40, 60, .up))
        #expect(info.contentType.preferredFileExtension == URL(fileURLWithPath: output).pathExtension)
        for word in ["MakerX", "LATITUDE"] {
            #expect(source.range(of: Data(word.utf8)) != nil && data.range(of: Data(word.utf8)) == nil)
        }
    }

    @Test("A large image is written as the steps on bitmaps make it", arguments: ["out.jpg", "out.png", "out.webp"])
    func largeImage(output: String) async throws {
        let image = SampleImages.gradient(60, 40).kf.resize(to: CGSize(width: 4_200, height: 4_096))
        let data = try #require(image.jpegData(compressionQuality: 0.9))
        try place.write(data, "in.jpg")
        let result = try await place.kf(
            ["process", "in.jpg", "-o", output, "--json", "--process", "crop(4000x4000)|>resize(400x)|>sharpen(0.4)"]
        )
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(try result.objects.map { $0["width"] as? Int } == [400])
        let steps: [any ImageProcessor] = [
            CroppingImageProcessor(size: CGSize(width: 4_000, height: 4_000)),
            ResizingImageProcessor(referenceSize: CGSize(width: 400, height: 400), space: .linear),
            SharpeningImageProcessor(sigma: 0.4),
        ]
        let options = KingfisherParsedOptionsInfo(nil)
        let expected = CompositionImageProcessor(steps).process(item: .data(data), options: options)
        let file = try await #require(expected).kf.encoded(
            as: ImageEncoding(ImageInfo(data: place.data(output)).contentType)
        )
        #expect(try place.data(output) == file.data)
    }

    @Test("--widths writes each image in several widths, from one decode, and enlarges none")
    func widths() async throws {
        let turned = SampleEXIF(isLittleEndian: true).added(toJPEG: try SampleImages.jpeg(80, 120))
        // Standard input can be read only once.
        let result = try await place.kf(
            ["process", "-", "-o", "out/a-{width}x{height}.webp", "--widths", "60,30,300,60,200", "--json"],
            input: turned
        )
        #expect(result.status == 0)
        #expect(
            result.errors
                == "kf: warning: -: the image is 120 pixels wide, and written so in place of 200 and more\n"
        )
        #expect(try result.objects.map { $0["width"] as? Int } == [30, 60, 120])
        #expect(place.files("out").sorted() == ["a-120x80.webp", "a-30x20.webp", "a-60x40.webp"])
        for (name, width) in [("a-30x20.webp", 30), ("a-120x80.webp", 120)] {
            #expect(try ImageInfo(data: place.data("out/\(name)")).pixelWidth == width)
        }
        try place.write(SampleImages.gif(), "b.gif")
        let animation = try await place.kf(
            ["process", "b.gif", "-o", "{name}-{width}", "--widths", "6,12", "--process", "rotate(90)"]
        )
        #expect(animation.status == 0 && animation.errors == "", "\(animation.errors)")
        for width in [6, 12] {
            let info = try ImageInfo(data: place.data("b-\(width).gif"))
            #expect((info.pixelWidth, info.frameCount) == (width, 2))
        }
    }

    @Test("An exact thumbnail has its size, and others of smaller images come with a warning")
    func enlargedThumbnails() async throws {
        try place.write(SampleImages.jpeg(90, 60), "in.jpg")
        func result(_ step: String) async throws -> (width: Int, height: Int, errors: String) {
            let run = try await place.kf("process", "in.jpg", "-o", "out.png", "--process", step)
            let image = try #require(KFCrossPlatformImage(data: try place.data("out.png")))
            let fetched = try await place.kf("fetch", "in.jpg", "-o", "out.png", "--process", step)
            #expect(fetched.errors == run.errors)
            return (image.pixelWidth, image.pixelHeight, run.errors)
        }
        #expect(try await result("thumbnail(300x300,exact)") == (300, 300, ""))
        #expect(try await result("thumbnail(30x30,fill)") == (30, 30, ""))
        let filled = try await result("thumbnail(300x300,fill)")
        #expect(filled.width == 60 && filled.height == 60)
        #expect(
            filled.errors == """
                kf: warning: in.jpg: the image of 90×60 is too small for thumbnail(300x300), which does not enlarge it; \
                use resize(300x300,aspectFill)|>crop(300x300) to enlarge it

                """
        )
        #expect(try await result("thumbnail(300x)").errors.contains("use resize(300x) to enlarge it"))
        #expect(try await result("resize(300x300,aspectFill)|>crop(300x300)") == (300, 300, ""))
    }

    @Test("Corners that are not named stay square") func squareCorners() async throws {
        try place.write(SampleImages.jpeg(40, 40), "in.jpg")
        _ = try await place.kf("process", "in.jpg", "-o", "out.png", "--process", "round(20,corners=tl)")
        let image = try #require(KFCrossPlatformImage(data: try place.data("out.png"))?.cgImage)
        let alphas = image.withUnsafeBytes { bytes in
            [(0, 0), (39, 0), (0, 39), (39, 39)].map { bytes[$1 * image.bytesPerRow + $0 * 4 + 3] }
        }
        #expect(alphas == [0, 255, 255, 255])
    }

    @Test(
        "Bad inputs and outputs are errors with a code",
        arguments: [("in.txt", "out.png", 4001), ("missing", "out.png", 5003), ("in.png", "/dev/full", 9002)]
    )
    func errors(input: String, output: String, code: Int) async throws {
        try place.write(Data("hello".utf8), "in.txt")
        try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("process", input, "-o", output, "--process", "round(3)")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
    }

    @Test("Many inputs go to a directory and are reported in order, and one that fails does not affect the others")
    func manyInputs() async throws {
        let names = (1...9).map { "\($0 % 3)/photo.\($0 % 2 == 0 ? "jpg" : "png")" }
        for directory in ["0", "1", "2"] {
            try FileManager.default.createDirectory(atPath: place.path(directory), withIntermediateDirectories: true)
            try place.write(SampleImages.jpeg(), "\(directory)/photo.jpg")
            try place.write(SampleImages.png(), "\(directory)/photo.png")
        }
        let inputs = names.prefix(4) + ["missing.png"] + names.dropFirst(4)
        let result = try await place.kf(["process"] + inputs + ["-o", "out", "--process", "resize(12x)"])
        #expect(result.status == 1)
        #expect(result.errors == "kf: missing.png: cannot be read: No such file or directory (code 5003)\n")
        let lines = result.output.split(separator: "\n")
        #expect(lines.map { $0.prefix { $0 != ":" } } == names.map { Substring($0) })
        #expect(place.files("out").count == 9)
        #expect(place.files("out").contains("photo.png") && place.files("out").contains("photo-9.png"))
        let image = try #require(KFCrossPlatformImage(data: try place.data("out/photo.png")))
        #expect(image.pixelWidth == 12 && image.pixelHeight == 8)
    }

    @Test("One input may go to a directory too, and is named after its source")
    func directoryForOne() async throws {
        try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("process", "in.png", "-o", "out/", "--process", "bw()", "--format", "webp")
        #expect(result.status == 0, "\(result.errors)")
        #expect(place.files("out") == ["in.webp"])
    }

    @Test("Inputs in the output directory are not overwritten", arguments: ["fetch", "process"])
    func keptInputs(command: String) async throws {
        // The result of one input must not replace another input.
        let (jpeg, png) = (try SampleImages.jpeg(), try SampleImages.png())
        try place.write(jpeg, "two.jpg")
        try place.write(png, "two.png")
        let both = ["two.jpg", "two.png", "-o", ".", "--process", "bw()", "--format", "png"]
        #expect(try await place.kf([command] + both).status == 1)
        #expect(try place.data("two.jpg") == jpeg && place.data("two.png") == png)
        let photo = try SampleImages.jpeg()
        try place.write(photo, "photo.jpg")
        let result = try await place.kf(command, "photo.jpg", "-o", ".", "--process", "bw()")
        #expect(result.status == 1)
        #expect(result.errors.contains("that is one of the inputs; name another directory"), "\(result.errors)")
        #expect(try place.data("photo.jpg") == photo)
        #expect(try await place.kf(command, "photo.jpg", "-o", ".", "--process", "bw()", "--format", "png").status == 0)
        #expect(Set(place.files(".")).isSuperset(of: ["photo.jpg", "photo.png"]))
    }

    @Test("--json prints an object for each input, and --quiet only errors")
    func jsonAndQuiet() async throws {
        try place.write(SampleImages.gif(), "in.gif")
        let arguments = ["process", "in.gif", "missing.png", "-o", "out", "--process", "resize(15x)"]
        let result = try await place.kf(arguments + ["--json"])
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        let objects = try result.objects
        try #require(objects.count == 2)
        #expect(
            objects[0].keys.sorted() == ["bytes", "damaged", "format", "frames", "height", "output", "source", "width"]
        )
        #expect(objects[0]["width"] as? Int == 15 && objects[0]["height"] as? Int == 10)
        #expect(objects[0]["frames"] as? Int == 2 && objects[0]["format"] as? String == "gif")
        #expect(try objects[0]["bytes"] as? Int == place.data("out/in.gif").count)
        #expect(objects[0]["output"] as? String == "out/in.gif" && objects[0]["damaged"] as? Bool == false)
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? Int == 5003)
        let quiet = try await place.kf(arguments + ["--quiet"])
        #expect(quiet.output == "")
        #expect(quiet.errors == result.errors)
        let piped = try await place.kf("process", "in.gif", "-o", "-", "--process", "bw()", "--json")
        #expect(piped.data.prefix(3) == Data("GIF".utf8))
        #expect(piped.errors.contains(#""output":"-""#))
    }

    @Test("With --strict a damaged image is a failure, and nothing is written", arguments: ["fetch", "process"])
    func strictness(command: String) async throws {
        let whole = try SampleImages.jpeg(120, 80)
        try place.write(whole.prefix(whole.count / 2), "cut.jpg")
        let arguments = [command, "cut.jpg", "-o", "out.png", "--process", "bw()"]
        let strict = try await place.kf(arguments + ["--strict"])
        #expect(strict.status == 1)
        #expect(
            strict.errors.contains(
                "a part of it is missing; without --strict the rest of the image is written (code 9008)"
            )
        )
        #expect(!FileManager.default.fileExists(atPath: place.path("out.png")))
        #expect(try await place.kf(arguments).status == 0)
    }

    @Test("Limits refuse what exceeds them, with the option that allows more")
    func limits() async throws {
        try place.write(SampleImages.gif(), "in.gif")
        let size = try SampleImages.gif().count
        let cases = [
            ("--max-pixels", "599", "the limit maxPixelCount = 599; --max-pixels 600 allows it", "600"),
            ("--max-frames", "1", "or raise the limit with --max-frames 2", "2"),
            (
                "--max-bytes", "\(size - 1)", "the source has \(size) bytes, and --max-bytes allows \(size - 1)",
                "\(size)"
            ),
        ]
        for command in [["fetch", "in.gif", "-o", "out.gif"], ["process", "in.gif", "-o", "out.gif"]] {
            for (option, value, words, enough) in cases {
                let arguments = command + ["--process", "round(0)", option]
                let refused = try await place.kf(arguments + [value])
                #expect(refused.status == 1)
                #expect(refused.errors.contains(words), "\(refused.errors)")
                let result = try await place.kf(arguments + [enough])
                #expect(result.status == 0, "\(result.errors)")
            }
        }
        let piped = try await place.kf(["hash", "-", "--max-bytes", "\(size - 1)"], input: SampleImages.gif())
        #expect(piped.errors.contains("came; --max-bytes allows more"), "\(piped.errors)")
    }
}
