// The command `kf process`, run in a process of its own.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite struct ProcessTests {
    let place: TestDirectory

    init() throws { place = try TestDirectory() }

    @Test("The processed image is written") func processedOutput() async throws {
        try place.write(SampleImages.jpeg(90, 60), "in.jpg")
        let result = try await place.kf(
            "process",
            "in.jpg",
            "-o",
            "out.png",
            "--process",
            "resize(30x30,aspectFit)|>round(50%)"
        )
        #expect(result.status == 0, "\(result.errors)")
        let image = try #require(KFCrossPlatformImage(data: try place.data("out.png")))
        #expect(image.pixelWidth == 30)
        #expect(image.pixelHeight == 20)
        #expect(image.hasAlpha)
        #expect(place.files("home-cache") == [])
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
        #expect(result.errors == "kf: missing.png: it cannot be read: No such file or directory (code 5003)\n")
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
}
