// `kf gallery` and `kf hash`.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite struct GalleryTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    @Test func everyStepHasACell() throws {
        let shown = Set(
            try Gallery.exhibits.filter { !$0.pipeline.isEmpty }.flatMap { exhibit in
                let steps = try PipelineParser.parse(exhibit.pipeline)
                #expect(!steps.isEmpty)
                return exhibit.pipeline.components(separatedBy: "|>").compactMap {
                    $0.split(separator: "(").first.map(String.init)
                }
            }
        )
        #expect(shown == Set(PipelineParser.steps.map(\.name)))
    }

    @Test func labelsAreBrokenBetweenArguments() {
        #expect(Gallery.label("blur(6)") == "blur(6)")
        #expect(Gallery.label("") == "the picture")
        #expect(Gallery.label("composite(sourceAtop,0.5,#7030a0)") == "composite(\nsourceAtop,0.5,\n#7030a0)")
        for exhibit in Gallery.exhibits {
            let lines = Gallery.label(exhibit.pipeline).split(separator: "\n")
            #expect(lines.allSatisfy { Lettering.width(String($0), dot: 2) <= Gallery.width + 20 })
        }
    }

    @Test(arguments: [[], ["in.jpg"]])
    func theSheetIsWrittenInTheFormatOfItsName(source: [String]) async throws {
        try place.write(try Pictures.jpeg(300, 500), "in.jpg")
        for (name, magic) in [("sheet.png", [0x89, 0x50]), ("sheet.jpg", [0xFF, 0xD8])] as [(String, [UInt8])] {
            let result = try await place.kf(["gallery", "-o", name] + source)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.errors == "")
            #expect(result.output.hasPrefix("\(Gallery.exhibits.count) cells, "))
            #expect(Array(try place.data(name).prefix(2)) == magic)
        }
    }

    @Test(arguments: [("missing", 5003, "sheet.png"), ("a.txt", 4001, "sheet.png")])
    func whatCannotBeDoneIsSaid(source: String, code: Int, output: String) async throws {
        try place.write(Data("hello".utf8), "a.txt")
        let result = try await place.kf("gallery", source, "-o", output)
        #expect(result.status == 1)
        #expect(result.errors.hasSuffix("(code \(code))\n"), "\(result.errors)")
    }
}

@Suite struct HashTests {
    let place: Workplace

    init() throws { place = try Workplace() }

    @Test func oneLineAPictureWithTabsBetween() async throws {
        let (jpeg, png) = (try Pictures.jpeg(), try Pictures.png())
        try place.write(jpeg, "a.jpg")
        try place.write(png, "b.png")
        let result = try await place.kf("hash", "a.jpg", "missing", "b.png")
        #expect(result.status == 1)
        #expect(result.errorLines.count == 1)
        let lines = result.output.split(separator: "\n").map { $0.components(separatedBy: "\t") }
        try #require(lines.count == 2)
        for (line, data) in zip(lines, [jpeg, png]) {
            let image = try #require(KFCrossPlatformImage(data: data))
            #expect(line[0] == image.kf.blurHash(components: (4, 3)))
            #expect(Data(base64Encoded: line[1]) == image.kf.thumbHash())
            // The length that twelve components take.
            #expect(line[0].count == 28)
        }
        #expect(lines.map { $0[2] } == ["a.jpg", "b.png"])
    }

    @Test func theSameInJSON() async throws {
        try place.write(try Pictures.png(), "b.png")
        let result = try await place.kf("hash", "--json", "b.png", "missing")
        #expect(result.status == 1)
        let objects = try result.objects
        let image = try #require(KFCrossPlatformImage(data: try Pictures.png()))
        #expect(objects[0]["source"] as? String == "b.png")
        #expect(objects[0]["blurHash"] as? String == image.kf.blurHash(components: (4, 3)))
        #expect(objects[0]["thumbHash"] as? String == image.kf.thumbHash()?.base64EncodedString())
        #expect((objects[1]["error"] as? [String: Any])?["code"] as? Int == 5003)
    }
}
