// The formats behind package traits: their images with the trait, and their errors without it.

import Foundation
import KFImaging
import KFSupport
import Testing

@Suite struct MissingTraitTests {
    #if !HEIC
    @Test("Without its trait HEIC is refused with advice") func heicWithoutTrait() throws {
        try expectAdvice("photo.heic", .heic, "HEIC")
    }
    #endif
    #if !JXL
    @Test("Without its trait JPEG XL is refused with advice") func jxlWithoutTrait() throws {
        try expectAdvice("photo.jxl", .jxl, "JXL")
    }
    #endif
    #if !SVG
    @Test("Without its trait SVG is refused with advice") func svgWithoutTrait() throws {
        try expectAdvice("drawing.svg", .svg, "SVG")
    }
    #endif

    private func expectAdvice(_ file: String, _ type: ImageContentType, _ trait: String) throws {
        let detail = "it takes a build with the package trait \(trait)"
        #expect(Codecs.diagnose(try fixture(file)) == .unsupported(type, detail: detail))
        #expect(throws: ImagingError.unsupported(type, detail: detail)) { try ImageInfo(data: fixture(file)) }
    }
}

private func expectLimits(_ name: String) throws {
    let tight = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64 - 1))
    #expect(throws: ImagingError.self) { try Codecs.decode(fixture(name), options: tight) }
    let wide = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64))
    #expect(try Codecs.decode(fixture(name), options: wide).pixelWidth == 96)
}

#if HEIC
@Suite struct HEICTests {
    @Test("HEIC of high dynamic range is converted by the formulas", arguments: [UInt8(16), 18])
    func highDynamicRange(transfer: UInt8) throws {
        func decoded(_ transfer: UInt8) throws -> Bitmap {
            var data = try fixture("display-p3.heic")
            // Numbers in the place of the profile: the colours of sRGB, a curve, the matrix of BT.601, full range.
            let place = try #require(data.range(of: Data("colrprof".utf8))).lowerBound + 4
            let numbers = Array("nclx".utf8) + [0, 1, 0, transfer, 0, 6, 0x80]
            data.replaceSubrange(place..<place + numbers.count, with: numbers)
            return try Codecs.decode(data).bitmap()
        }
        let (plain, bright) = (try decoded(13), try decoded(transfer))
        for (x, y) in [(8, 8), (24, 8), (8, 24), (24, 24)] {
            let coded = plain[x, y]
            let expected = HDRFormula.pixel([coded.r, coded.g, coded.b].map(Int.init), transfer: transfer)
            #expect(bright[x, y].isNear(expected, within: 2), "\(bright[x, y]), not \(expected)")
        }
        #expect(bright.rows != plain.rows)
    }

    @Test("Limits hold for HEIC") func limits() throws { try expectLimits("photo.heic") }
}
#endif

#if JXL
@Suite struct JXLTests {
    @Test(
        "JPEG XL of high dynamic range is converted by the formulas",
        arguments: [("pq-lossless.jxl", UInt8(16), 1), ("pq.jxl", 16, 3), ("hlg.jxl", 18, 3)]
    )
    func highDynamicRange(name: String, transfer: UInt8, tolerance: Int) throws {
        let bitmap = try picture(name).bitmap()
        for (place, value) in [0, 32, 64, 96, 128, 160, 192, 224, 255].enumerated() {
            let expected = HDRFormula.pixel([value, value, value], transfer: transfer)
            let pixel = bitmap[place * 8 + 4, 8]
            #expect(pixel.isNear(expected, within: tolerance), "\(value): \(pixel), not \(expected)")
        }
    }

    @Test("Limits hold for JPEG XL") func limits() throws { try expectLimits("photo.jxl") }
}
#endif

#if SVG
@Suite struct SVGTests {
    @Test("Drawings have their own size or the requested one") func drawingSizes() throws {
        let image = try picture("drawing.svg")
        #expect(image.pixelWidth == 40 && image.pixelHeight == 20)
        let large = try picture("drawing.svg", maxPixelSize: 400)
        #expect(large.pixelWidth == 400 && large.pixelHeight == 200)
        let small = try picture("drawing.svg", maxPixelSize: 10)
        #expect(small.pixelWidth == 10 && small.pixelHeight == 5)
        #expect(try picture("viewbox.svg").size == CGSize(width: 30, height: 60))
        #expect(try picture("viewbox.svg", maxPixelSize: 20).size == CGSize(width: 10, height: 20))
        #expect(try ImageInfo(data: fixture("drawing.svg")).pixelWidth == 40)
    }

    @Test("A thumbnail of a drawing is drawn at the size of its box, and cropped if it fills the box")
    func thumbnails() throws {
        for (mode, width, height) in [(ThumbnailMode.fit, 300, 150), (.fill, 300, 300), (.exact, 300, 300)] {
            var options = DecodingOptions()
            options.thumbnail = Thumbnail(width: 300, height: 300, mode: mode, anchor: .center, enlarges: false)
            let bitmap = try Codecs.decode(fixture("drawing.svg"), options: options).bitmap()
            #expect(bitmap.size == PixelSize(width, height))
            // Drawn, not enlarged: the edge in the middle is sharp, but for the few pixels that stretching takes.
            let near = mode == .exact ? 8 : 1
            #expect(bitmap[150 - near, 75] == Pixel(r: 255, g: 0, b: 0) && bitmap[150 + near, 75].a == 128, "\(mode)")
        }
    }

    @Test("Colours and transparency of a drawing are exact") func colors() throws {
        let bitmap = try picture("drawing.svg").bitmap()
        #expect(bitmap.hasAlpha && bitmap[5, 5] == Pixel(r: 255, g: 0, b: 0))
        #expect(bitmap[30, 10].isNear(Pixel(r: 0, g: 0, b: 128, a: 128), within: 1))
        // Drawn at its size, not enlarged: the edge between the two is sharp.
        let large = try picture("drawing.svg", maxPixelSize: 400).bitmap()
        #expect(large[199, 100] == Pixel(r: 255, g: 0, b: 0) && large[200, 100] == bitmap[30, 10])
    }

    @Test("References to other files are not followed") func externalReferences() throws {
        // Either the drawing is refused, or what it refers to is not shown.
        guard let bitmap = try? picture("references.svg").bitmap() else { return }
        #expect(bitmap.rows.joined().allSatisfy { $0.a == 0 })
    }

    @Test("References that multiply elements without bounds are refused") func multipliedReferences() async throws {
        let levels = (1...11).map { level in
            "<g id='l\(level)'>" + String(repeating: "<use xlink:href='#l\(level - 1)'/>", count: 10) + "</g>"
        }
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='9' height='9'>"
            + "<defs><rect id='l0' width='9' height='9'/>\(levels.joined())</defs><use xlink:href='#l11'/></svg>"
        // Ten to the eleventh rectangles; librsvg counts to half a million.
        let error = await WorkExecutor.cpu.run { Codecs.diagnose(Data(text.utf8)) }
        #expect(error?.malformedType == .svg)
    }

    @Test("Drawings beyond the limits can be drawn small") func hugeDrawings() throws {
        let expected = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: 1 << 28,
            width: 100_000,
            height: 50_000
        )
        #expect(Codecs.diagnose(try fixture("huge.svg")) == expected)
        let small = try picture("huge.svg", maxPixelSize: 100).bitmap()
        #expect(small.size == PixelSize(100, 50) && small[50, 10].a == 255 && small[50, 40].a == 0)
    }

    @Test(
        "Drawing sizes that make no sense never trap",
        arguments: ["0", "-5", "1e308", "1e-308", "NaN", "100%", "99999999999999999999"]
    )
    func invalidDrawingSizes(length: String) throws {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='\(length)' height='\(length)'/><!-- </svg> -->"
        let data = Data(text.utf8)
        _ = try? ImageInfo(data: data)
        let options = DecodingOptions(maxPixelSize: 10)
        if let image = try? Codecs.decode(data, options: options) { #expect(image.pixelWidth <= 10) }
        _ = try? Codecs.decode(data, options: DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 1 << 20)))
    }
}
#endif
