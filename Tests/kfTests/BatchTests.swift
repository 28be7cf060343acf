// `kf process` on folders and on files that are there already.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct BatchTests {
    let place = TestDirectory()

    init() throws {
        for directory in ["in/a/b", "in/.hidden", "in/empty"] { try makeDirectory(directory) }
    }

    private func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: place.path(name), withIntermediateDirectories: true)
    }

    /// Images in folders, one of another format and name in each, and files that are no images.
    private func fill() throws {
        try place.write(SampleImages.jpeg(), "in/one.jpg")
        try place.write(SampleImages.png(), "in/a/two.png")
        try place.write(SampleImages.gif(), "in/a/b/three.gif")
        try place.write(SampleImages.png(), "in/.hidden/no.png")
        try place.write(SampleImages.png(), "in/.no.png")
        try place.write(Data("text".utf8), "in/a/notes.txt")
    }

    /// Dates a file so many seconds after 2001.
    private func date(_ name: String, _ seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: place.path(name))
    }

    private func run(_ arguments: String...) async throws -> KFResult {
        let result = try await place.kf(["process"] + arguments)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        return result
    }

    // MARK: Folders

    @Test("Folders are made again in the output directory, and processed in the order of their names")
    func folders() async throws {
        try fill()
        let result = try await run("in", "-o", "out", "--recursive", "--process", "resize(6x)")
        #expect(place.files("out").sorted() == ["a/b/three.gif", "a/two.png", "one.jpg"])
        #expect(try ImageInfo(data: place.data("out/a/b/three.gif")).frameCount == 2)
        let sources = result.output.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
        #expect(sources == ["in/a/b/three.gif", "in/a/two.png", "in/one.jpg"])
        let absolute = try await run(place.path("in") + "/", "-o", "again/", "-r", "--format", "webp")
        #expect(place.files("again").sorted() == ["a/b/three.webp", "a/two.webp", "one.webp"], "\(absolute.output)")
    }

    @Test("{dir} is the directory as it was typed, or below the folder that was named")
    func directoryInNames() async throws {
        try fill()
        _ = try await run("in", "-o", "out/{dir}/{width}/{name}.png", "-r")
        #expect(place.files("out").sorted() == ["60/one.png", "a/48/two.png", "a/b/30/three.png"])
        for command in ["process", "fetch"] {
            let arguments = [command, "in/one.jpg", "in/a/two.png", "-o", "\(command)/{dir}/{name}"]
            let result = try await place.kf(arguments)
            #expect(result.status == 0, "\(result.errors)")
            #expect(place.files(command).sorted() == ["in/a/two.png", "in/one.jpg"])
        }
        _ = try await run("in/one.jpg", "in/a/two.png", "-o", "{dir}/{name}-small", "--process", "resize(6x)")
        #expect(place.files("in").contains("one-small.jpg") && place.files("in").contains("a/two-small.png"))
    }

    @Test("A file that is named beside folders goes to the output directory itself, whatever leads to it")
    func fileBesideFolders() async throws {
        try fill()
        try makeDirectory("elsewhere")
        try place.write(SampleImages.png(), "elsewhere/four.png")
        _ = try await run("in/a", "in/../elsewhere/four.png", "-r", "-o", "work/out", "--format", "webp")
        #expect(place.files("work/out").sorted() == ["b/three.webp", "four.webp", "two.webp"])
        #expect(place.files("elsewhere") == ["four.png"])
    }

    @Test("Results beside their sources are no sources the next time") func resultsBesideSources() async throws {
        try fill()
        for _ in 0..<3 { _ = try await run("in", "-o", "in", "-r", "--format", "webp") }
        _ = try await run("in", "-o", "in", "-r", "--format", "webp", "--update")
        let results = place.files("in").filter { $0.hasSuffix(".webp") }
        #expect(results.sorted() == ["a/b/three.webp", "a/two.webp", "one.webp"])
    }

    @Test("A file that is named twice is replaced once") func inPlaceTwice() async throws {
        try place.write(SampleImages.png(), "in/x.png")
        let before = try ImageInfo(data: place.data("in/x.png"))
        let result = try await run("in/x.png", "in/./x.png", "in", "-r", "--in-place", "--process", "rotate(90)")
        let after = try ImageInfo(data: place.data("in/x.png"))
        #expect(after.pixelWidth == before.pixelHeight && after.pixelWidth != before.pixelWidth)
        #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
    }

    @Test("Equal names get numbers within one folder only") func equalNames() async throws {
        for name in ["in/x.jpg", "in/a/x.jpg"] { try place.write(SampleImages.jpeg(), name) }
        try place.write(SampleImages.png(), "in/a/x.png")
        _ = try await run("in", "-o", "out", "-r", "--format", "webp")
        #expect(place.files("out").sorted() == ["a/x-2.webp", "a/x.webp", "x.webp"])
        let again = try await place.kf("process", "in", "-o", "out", "-r", "--format", "webp", "--update")
        #expect(again.status == 1)
        #expect(again.errors.contains("in/a/x.png: another source is called x, too; rename one"), "\(again.errors)")
    }

    @Test("The output's own folder is no source") func outputWithinInput() async throws {
        try fill()
        for output in ["in/out", "in/a/thumbs/{dir}/{name}"] {
            for _ in 1...2 { _ = try await run("in", "-o", output, "-r", "--format", "webp", "--skip-existing") }
        }
        // What the first run made is a source of the third.
        #expect(!place.files("in/out").contains { $0.hasPrefix("out") })
        #expect(!place.files("in/a/thumbs").contains { $0.contains("thumbs") })
        #expect(place.files("in/a/thumbs").contains("out/a/b/three.webp"))
    }

    @Test("A folder is refused without --recursive, and one without images always; links to folders are not followed")
    func refusedFolders() async throws {
        try fill()
        try FileManager.default.createSymbolicLink(atPath: place.path("in/empty/loop"), withDestinationPath: "../..")
        for (arguments, words) in [
            (["in"], "kf: in: is a folder: --recursive processes the images in it"),
            (["in/empty", "-r"], "kf: in/empty: is a folder: there is no file with an image's extension in it"),
        ] {
            let result = try await place.kf(["process", "-o", "out/"] + arguments)
            #expect(result.status == 1)
            #expect(result.errors == "\(words) (code 9001)\n", "\(result.errors)")
        }
    }

    @Test("Folders and files whose names are not UTF-8 are processed") func namesOutsideUTF8() async throws {
        try fill()
        let line =
            "mv in/a \"in/$(printf 'caf\\351')\"; \"$0\" process in -o out -r --format png && ls out/caf?/two.png"
        let result = try await place.kf([], launcher: ["/bin/sh", "-c", line])
        #expect(result.status == 0, "\(result.errors)")
    }

    // MARK: Files that are there

    @Test("Files are replaced in place, whole or not at all, with their modes and behind their links")
    func inPlace() async throws {
        try fill()
        try makeDirectory("links")
        try FileManager.default.createSymbolicLink(
            atPath: place.path("links/l.png"),
            withDestinationPath: "../in/a/two.png"
        )
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: place.path("in/one.jpg"))
        let jpeg = try SampleImages.jpeg(120, 80)
        let cut = jpeg.prefix(jpeg.count / 2)
        try place.write(cut, "in/cut.jpg")
        let number = try identity("in/a/two.png")
        let result = try await place.kf([
            "process", "in/one.jpg", "links/l.png", "in/cut.jpg", "--in-place", "--process", "resize(6x)",
        ])
        #expect(result.status == 1)
        #expect(result.errors.contains("in/cut.jpg: the image is damaged"), "\(result.errors)")
        #expect(result.errorLines.count == 1)
        #expect(try place.data("in/cut.jpg") == cut)
        #expect(try ImageInfo(data: place.data("in/one.jpg")).pixelWidth == 6)
        #expect(try ImageInfo(data: place.data("in/a/two.png")).pixelWidth == 6)
        // Another file in the old one's place, and not the old one written anew.
        #expect(try identity("in/a/two.png") != number)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: place.path("links/l.png")) == "../in/a/two.png"
        )
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path("in/one.jpg"))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    private func identity(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: place.path(name))[.systemFileNumber] as? Int
    }

    @Test("A file that cannot be written again as is asked for is not replaced by one of another format")
    func unwritableFormat() async throws {
        let jpeg = try SampleImages.jpeg()
        try place.write(jpeg, "b.jpg")
        let result = try await place.kf(["process", "b.jpg", "--in-place", "--lossless"])
        #expect(result.status == 1)
        #expect(
            result.errors.contains("again, so it is not replaced; -o writes another format"),
            "\(result.errors)"
        )
        #expect(try place.data("b.jpg") == jpeg)
    }

    @Test("BMP and TIFF are written by their names, lose nothing, and stay what they are in place")
    func exactFormats() async throws {
        try place.write(SampleImages.png(), "in.png")
        for (name, type) in [("a.bmp", ImageContentType.bmp), ("a.tif", .tiff)] {
            #expect(try await place.kf(["process", "in.png", "-o", name, "--lossless"]).status == 0)
            #expect(try ImageInfo(data: place.data(name)).contentType == type)
            #expect(try await place.kf(["compare", "in.png", name, "--threshold", "100"]).status == 0)
            #expect(try await place.kf(["process", name, "--in-place", "--process", "thumbnail(20x)"]).status == 0)
            let info = try ImageInfo(data: place.data(name))
            #expect(info.contentType == type && info.pixelWidth == 20)
            let kept = try await place.kf(["process", "in.png", "-o", name, "--keep", "exif"])
            #expect(kept.errors.contains("no EXIF data was written, for \(type.name) is written without"))
        }
    }

    @Test("--skip-existing leaves what is there, --update what is not older than its source", arguments: [false, true])
    func existingFiles(isFormatNamed: Bool) async throws {
        for name in ["old", "new", "same", "fresh"] { try place.write(SampleImages.png(), "in/\(name).png") }
        let names = ["old", "new", "same"]
        for name in names { try place.write(Data(), "\(name).png") }
        for (name, source, result) in [("old", 2.5, 2.25), ("new", 1.0, 2.0), ("same", 2.0, 2.0)] {
            try date("in/\(name).png", source)
            try date("\(name).png", result)
        }
        func written(_ option: String) async throws -> Set<String> {
            for name in names { try #require(try place.data("\(name).png").isEmpty) }
            let format = isFormatNamed ? ["--format", "png"] : []
            let sources = (names + ["fresh"]).map { "in/\($0).png" }
            let result = try await place.kf(["process"] + sources + ["-o", ".", option, "--json"] + format)
            #expect(result.status == 0, "\(result.errors)")
            let skipped = try result.objects.filter { $0["skipped"] as? Bool == true }
            #expect(skipped.allSatisfy { ($0["output"] as? String)?.hasSuffix(".png") == true })
            // The second run finds what the first one wrote.
            #expect(skipped.count == 3)
            return Set((names + ["fresh"]).filter { (try? place.data("\($0).png").isEmpty) == false })
        }
        #expect(try await written("--skip-existing") == ["fresh"])
        #expect(try await written("--update") == ["old", "fresh"])
    }

    @Test("--dry-run says what would be written where, and writes nothing") func dryRun() async throws {
        try fill()
        try place.write(Data("no image".utf8), "in/broken.png")
        try makeDirectory("out")
        try place.write(Data(), "out/one.jpg")
        let before = place.files(".").sorted()
        let result = try await place.kf("process", "in", "-o", "out", "-r", "--dry-run", "--skip-existing", "--quiet")
        #expect(result.status == 1)
        #expect(
            result.output == """
                in/a/b/three.gif → out/a/b/three.gif
                in/a/two.png → out/a/two.png
                in/one.jpg: skipped, out/one.jpg is there

                """
        )
        #expect(result.errors.hasPrefix("kf: in/broken.png: "))
        let others = try await place.kf("process", "in/one.jpg", "no.jpg", "-o", "{name}-{width}.webp", "--dry-run")
        #expect(others.output == "in/one.jpg → one-{width}.webp\n")
        #expect(others.errors.hasPrefix("kf: no.jpg: cannot be read: No such file"), "\(others.errors)")
        let replaced = try await place.kf("process", "in/one.jpg", "-o", "in/", "--dry-run")
        #expect(replaced.errors.contains("that is one of the inputs"), "\(replaced.errors)")
        let inPlace = try await run("in/one.jpg", "--in-place", "--dry-run", "--json")
        #expect(inPlace.output == #"{"source":"in/one.jpg","output":"in/one.jpg","skipped":false}"# + "\n")
        #expect(place.files(".").sorted() == before)
        #expect(!FileManager.default.fileExists(atPath: place.path("out/a")))
    }

    /// A pipe holds up whoever opens it until somebody writes, so the order in which they are opened shows.
    @Test(
        "-j is how many images are processed at once",
        .timeLimit(.minutes(5)),
        arguments: [
            // The first one is written before the second one is opened.
            ("-j1", "cat a.png >p; exec 4>q; ls out; cat a.png >&4; exec 4>&-", "p.png\n"),
            // The second one is read while the first one has no writer.
            ("--concurrency=2", "cat a.png >q; cat a.png >p", ""),
        ]
    )
    func concurrency(option: String, script: String, output: String) async throws {
        try place.write(SampleImages.png(), "a.png")
        let line = "mkfifo p q; \"$0\" process p q -o out/ --quiet \(option) & \(script); wait $!"
        let result = try await place.kf([], launcher: ["/bin/sh", "-c", line])
        #expect(result.status == 0 && result.output == output, "\(result.output)\(result.errors)")
        #expect(place.files("out").sorted() == ["p.png", "q.png"])
    }
}
