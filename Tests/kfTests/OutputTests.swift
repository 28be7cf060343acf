// The output of `kf`: formats, qualities, animations, and standard output.

import Foundation
import Kingfisher
import Testing

@testable import kf

@Suite(.tags(.processes)) struct OutputTests {
    let place = TestDirectory()

    @Test("With -o -, images are written to standard output") func standardOutput() async throws {
        let image = try SampleImages.jpeg()
        let source = try place.write(image, "in.jpg")
        let plain = try await place.kf("fetch", source, "-o", "-")
        #expect(plain.status == 0)
        #expect(plain.data == image)
        #expect(plain.errorLines.count == 1)
        let json = try await place.kf("fetch", source, "-o", "-", "--json", "--format", "webp")
        #expect(json.data.prefix(4) == Data("RIFF".utf8))
        #expect(json.errors.contains(#""output":"-""#))
        let processed = try await place.kf("process", source, "-o", "-", "--process", "resize(5x5)")
        #expect(KFCrossPlatformImage(data: processed.data)?.size == CGSize(width: 5, height: 5))
        #expect(!place.files(".").contains("-"))
    }

    @Test("Bytes of an image go to a terminal only when forced") func terminalOutput() async throws {
        try place.write(try SampleImages.png(), "in.png")
        for command in [["fetch", "in.png"], ["process", "in.png", "--process", "round(3)"]] {
            let refused = try await FakeTerminal(kind: .plain).kf(place, command + ["-o", "-"])
            #expect(refused.status == 2)
            #expect(refused.output.isEmpty)
            let forced = try await FakeTerminal(kind: .plain).kf(place, command + ["-o", "-", "--force"])
            #expect(forced.status == 0)
            #expect(forced.output.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        }
    }

    @Test("A GIF is copied as it is unless a quality is given") func copiedGIF() async throws {
        // The second frame differs a little in many places, which a low quality need not show.
        let gif = try SampleImages.gif([SampleImages.gradient(60, 40), SampleImages.gradient(60, 40, blue: 84)])
        let source = try place.write(gif, "in.gif")
        let copied = try await place.kf("fetch", source, "-o", "out.gif")
        #expect(try copied.status == 0 && place.data("out.gif") == gif, "\(copied.errors)")
        let smaller = try await place.kf("fetch", source, "-o", "out.gif", "--quality", "0.2")
        #expect(try smaller.status == 0 && place.data("out.gif").count < gif.count, "\(smaller.errors)")
        #expect(try animation("out.gif").kf.frameSource?.frameCount == 2)
        let png = try place.write(SampleImages.png(), "in.png")
        let still = try await place.kf("fetch", png, "-o", "still.gif")
        #expect(try still.status == 0 && ImageInfo(data: place.data("still.gif")).contentType == .gif)
    }

    @Test("Animations are processed frame by frame", arguments: ["out.webp", "out.gif", "out.png", "out.avif"])
    func animations(output: String) async throws {
        let source = try place.write(SampleImages.gif(), "in.gif")
        let pipeline = ["--process", "resize(15x10)|>round(5)"]
        for arguments in [
            ["fetch", source], ["fetch", source] + pipeline, ["process", source] + pipeline,
            // Again, from the disk cache.
            ["fetch", source] + pipeline,
        ] {
            let result = try await place.kf(arguments + ["-o", output])
            #expect(result.status == 0, "\(result.errors)")
            let frames = try #require(try animation(output).kf.frameSource)
            #expect(frames.frameCount == 2)
            #expect(frames.loopCount == 0)
            #expect(frames.duration(at: 1) == 0.1)
            let last = try #require(frames.frame(at: 1))
            #expect(last.width == (arguments.count > 2 ? 15 : 30))
            // The corners of the last frame are round too.
            if arguments.count > 2 { #expect(ShownPixels(last).colors[0] == ShownPixels.nothing) }
        }
    }

    /// The image in a file, with all its frames.
    private func animation(_ name: String) throws -> KFCrossPlatformImage {
        let data = try place.data(name)
        return try #require(KingfisherWrapper<KFCrossPlatformImage>.image(data: data, options: ImageCreatingOptions()))
    }

    @Test("An animation becomes a still on request, or where the format holds no frames") func stillFrames()
        async throws
    {
        let source = try place.write(SampleImages.gif(), "in.gif")
        for (arguments, name) in [
            (["--still"], "out.webp"), (["--still", "--process", "round(5)"], "out.gif"), ([], "out.jpg"),
            (["--process", "round(5)"], "out.jpeg"),
        ] as [([String], String)] {
            let result = try await place.kf(["fetch", source, "-o", name] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            #expect(try animation(name).kf.frameSource?.frameCount ?? 1 == 1)
        }
    }

    @Test("The frame count printed is that of the output") func frameCount() async throws {
        let frame = SampleImages.gradient(30, 20)
        let equal = try SampleImages.gif([frame, frame, SampleImages.gradient(30, 20, blue: 200)])
        let source = try place.write(equal, "in.gif")
        // Animated WebP shows equal neighbours as one.
        for (arguments, frames) in [
            (["-o", "out.jpg"], 1), (["-o", "out.png"], 3), (["-o", "out.webp"], 2),
            (["-o", "out.webp", "--still"], 1),
            (["-o", "out.gif"], 3),
            ([], 3),
        ] as [([String], Int)] {
            let result = try await place.kf(["fetch", source, "--json"] + arguments)
            #expect(try result.objects.first?["frames"] as? Int == frames, "\(arguments)")
        }
    }

    @Test("An image that a format cannot hold is written in one that can") func formatFallback() async throws {
        try place.write(try SampleImages.png(16_384, 2), "in.png")
        let result = try await place.kf("process", "in.png", "-o", "out.webp", "--process", "round(0)")
        #expect(result.status == 1)
        let advice = "use --format png, jpeg, gif, avif, bmp or tiff (code 9003)"
        #expect(result.errors.contains(advice), "\(result.errors)")
    }

    @Test("Formats are known by their file extensions too", arguments: ["jpg", "JPG", "JPEG"])
    func formatExtensions(format: String) async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let result = try await place.kf("fetch", source, "-o", "out", "--format", format)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try place.data("out").starts(with: [0xFF, 0xD8]))
    }

    @Test(
        "A full standard output is an error",
        arguments: [["info"], ["info", "--json"], ["hash"], ["show"], ["show", "--protocol", "kitty"], ["fetch"]]
    )
    func fullOutput(command: [String]) async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let result = try await place.kf(command + [source], target: full)
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1, "\(result.errors)")
        #expect(result.errors.contains("cannot write standard output: No space left on device"), "\(result.errors)")
    }

    @Test("Output that is closed by its reader is not reported", arguments: ["info", "hash", "show"])
    func closedOutput(command: String) async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let result = try await place.kf([command, source], target: pipe.fileHandleForWriting)
        #expect(result.status != 1)
        #expect(result.errors == "")
    }

    @Test("Pipes are read to their end", arguments: ["-", "/dev/stdin", "/dev/fd/0"])
    func pipes(source: String) async throws {
        let image = try SampleImages.png()
        let info = try await place.kf(["info", "--json", source], input: image)
        #expect(try info.objects.first?["bytes"] as? Int == image.count, "\(info.errors)")
        let fetch = try await place.kf(["fetch", source, "-o", "same.png", "--repeat", "2"], input: image)
        #expect(fetch.status == 0, "\(fetch.errors)")
        #expect(try place.data("same.png") == image)
        #expect(place.files("home-cache") == [])
        let process = try await place.kf(
            ["process", source, "-o", "out.png", "--process", "resize(5x5)"],
            input: image
        )
        #expect(process.status == 0, "\(process.errors)")
        #expect(KFCrossPlatformImage(data: try place.data("out.png"))?.size == CGSize(width: 5, height: 5))
    }

    @Test("An endless input is an error") func endlessInput() async throws {
        let result = try await place.kf("info", "/dev/zero")
        #expect(result.status == 1)
        #expect(result.errors.hasSuffix("came; --max-bytes allows more (code 5003)\n"), "\(result.errors)")
    }

    @Test(
        "--lossless and the best quality lose nothing where the format can do that",
        arguments: ["webp", "avif"],
        [["--lossless"], ["--quality", "100"], ["-q1.0"]]
    )
    func lossless(format: String, arguments: [String]) async throws {
        let source = try place.write(SampleImages.jpeg(), "in.jpg")
        let original = try #require(KFCrossPlatformImage(data: SampleImages.jpeg())?.cgImage)
        for command in [["fetch", source], ["process", source, "--process", "round(0)"]] {
            let result = try await place.kf(command + ["-o", "out.\(format)"] + arguments)
            #expect(result.status == 0, "\(result.errors)")
            let image = try #require(KFCrossPlatformImage(data: try place.data("out.\(format)"))?.cgImage)
            #expect(ShownPixels(image).colors == ShownPixels(original).colors)
        }
    }

    @Test("A format that cannot be lossless is refused if it was requested, and otherwise replaced by PNG")
    func losslessJPEG() async throws {
        let source = try place.write(SampleImages.jpeg(), "in.jpg")
        let arguments = ["process", source, "--process", "bw()", "--lossless", "-o"]
        let refused = try await place.kf(arguments + ["out.jpg"])
        #expect(refused.status == 1)
        let advice = "use --format png, webp, avif, bmp or tiff"
        #expect(refused.errors.contains("JPEG always loses something; \(advice)"))
        #expect(try await place.kf(arguments + ["out/"]).status == 0)
        #expect(place.files("out") == ["in.png"])
        let gif = try await place.kf(arguments + ["out.gif"])
        #expect(gif.errors.contains("GIF holds no more than 256 colours a frame; \(advice)"))
    }

    @Test(
        "An animation that becomes one frame causes a warning with advice",
        arguments: [
            ["fetch", "in.gif", "-o", "out.jpg"], ["fetch", "in.gif", "-o", "out/", "--format", "jpeg"],
            ["fetch", "in.gif", "-o", "out.jpg", "--process", "bw()"],
            ["process", "in.gif", "-o", "out.jpg", "--process", "bw()"],
        ]
    )
    func lostFrames(arguments: [String]) async throws {
        try place.write(SampleImages.gif(), "in.gif")
        let result = try await place.kf(arguments)
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1)
        #expect(result.errors.hasPrefix("kf: warning: in.gif: only the first of 2 frames was written"))
        #expect(result.errors.contains("use --format png or --format gif or --format webp"), "\(result.errors)")
        let still = try await place.kf(arguments + ["--still"])
        #expect(still.status == 0)
        #expect(still.errors == "")
    }

    @Test("An animation that ends becomes one that does not with a warning, or says how often it plays")
    func lostLoopCount() async throws {
        var data = try SampleImages.gif()
        let loops = try #require(data.range(of: Data("NETSCAPE2.0\u{3}\u{1}".utf8))).upperBound
        try place.write(data, "endless.gif")
        // Repeated twice.
        data[loops] = 2
        try place.write(data, "in.gif")
        let result = try await place.kf("process", "in.gif", "-o", "out.avif", "--process", "bw()")
        #expect(result.status == 0, "\(result.errors)")
        let warning = """
            kf: warning: in.gif: the animation, which plays 3 times, plays endlessly as AVIF: libavif cannot write that \
            before version 1.0; use --format png or --format gif or --format webp to keep it

            """
        let written = try ImageInfo(data: place.data("out.avif")).loopCount
        #expect(result.errors == (written == 3 ? "" : warning))
        #expect(try await place.kf("process", "endless.gif", "-o", "out.avif", "--process", "bw()").errors == "")
        #expect(try await place.kf("process", "in.gif", "-o", "out.webp", "--process", "bw()").errors == "")
    }

    @Test("In a directory, animations stay animations and stills stay stills")
    func animationsInADirectory() async throws {
        try place.write(SampleImages.gif(), "a.gif")
        try place.write(SampleImages.jpeg(), "b.jpg")
        for command in ["fetch", "process"] {
            let result = try await place.kf(command, "a.gif", "b.jpg", "-o", command, "--process", "resize(12x)")
            #expect(result.status == 0)
            #expect(result.errors == "")
            #expect(place.files(command).sorted() == ["a.gif", "b.jpg"])
            #expect(try animation("\(command)/a.gif").kf.frameSource?.frameCount == 2)
        }
    }

    @Test("The error for a missing directory has its name and advice")
    func missingDirectory() async throws {
        let source = try place.write(SampleImages.png(), "in.png")
        for command in [["fetch", source], ["process", source, "--process", "bw()"]] {
            let result = try await place.kf(command + ["-o", "nodir/x.png"])
            #expect(result.status == 1)
            let words = "there is no directory nodir; make it, or name another one (code 9002)"
            #expect(result.errors.hasSuffix(": cannot write nodir/x.png: \(words)\n"), "\(result.errors)")
        }
    }

    @Test("A lower quality makes a smaller file") func quality() async throws {
        let source = try place.write(SampleImages.png(120, 80), "in.png")
        for format in ["jpeg", "webp", "avif"] {
            var sizes: [Int] = []
            // A whole number is one of 100.
            for quality in ["1", "0.1", "95"] {
                let result = try await place.kf(
                    ["fetch", source, "-o", "out", "--format", format, "--quality", quality, "--json"]
                )
                #expect(try result.objects.first?["format"] as? String == format)
                sizes.append(try place.data("out").count)
            }
            #expect(sizes == sizes.sorted() && Set(sizes).count == 3, "\(format): \(sizes)")
        }
    }
}
