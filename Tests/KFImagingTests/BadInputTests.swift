// Data that is not an image, too large an image, or a truncated one.

import CKFCodecs
import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct BadInputTests {
    @Test("The default limits of the process apply to options without limits of their own") func defaultLimits() throws
    {
        // The limit is changed by so little that no other test is affected.
        let usual = ImageDecodingLimits.default
        defer { ImageDecodingLimits.default = usual }
        ImageDecodingLimits.default.maxFrameCount = 9_999
        #expect(DecodingOptions().limits.maxFrameCount == 9_999)
        #expect(DecodingOptions(limits: ImageDecodingLimits()).limits.maxFrameCount == 10_000)
    }

    @Test("Empty data is an error") func emptyData() {
        #expect(Codecs.diagnose(Data()) == .emptyData)
        #expect(Image(data: Data()) == nil)
        #expect(throws: ImagingError.emptyData) { try ImageInfo(data: Data()) }
    }

    @Test(
        "Text is recognised, and the error names its kind",
        arguments: [
            ("<!DOCTYPE html><html><body>Not found</body></html>", "an HTML page"), ("\n  <HTML>", "an HTML page"),
            ("<?xml version=\"1.0\"?><rss/>", "an XML document"), ("{\"error\": 404}", "a JSON document"),
            ("hello", "plain text"), ("Größe", "plain text"), ("<?xml version='1.0'?>\n<svg>", "an SVG drawing"),
        ]
    )
    func textRecognition(text: String, resembling: String) throws {
        let error = try #require(Codecs.diagnose(Data(text.utf8)))
        #expect(error == .unrecognizedFormat(resembling: resembling))
        #expect(error.description == "the bytes look like \(resembling), not an image")
    }

    @Test("Noise and zeros are not an image") func noise() {
        var generator = SeededGenerator(state: 7)
        let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(Codecs.diagnose(Data(bytes)) == .unrecognizedFormat(resembling: nil))
        #expect(Codecs.diagnose(Data(count: 100)) == .unrecognizedFormat(resembling: "nothing but zeros"))
    }

    @Test("A known format without a decoder is reported as unsupported") func noDecoderBuiltIn() {
        let error = Codecs.diagnose(Data("%PDF-1.7 ...".utf8))
        #expect(error == .unsupported(.pdf, detail: "no decoder is built in"))
    }

    @Test(
        "Decompression bombs are refused with the name of the limit",
        arguments: [("bomb.png", 60_000), ("huge-screen.gif", 65_535)]
    )
    func bombsRefused(name: String, side: Int) throws {
        let expected = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 1 << 28, width: side, height: side)
        let data = try fixture(name)
        #expect(throws: expected) { try Codecs.decode(data) }
        #expect(throws: expected) { try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 10)) }
        #expect(expected.description.contains("maxPixelCount = 268435456"))
        #expect(expected.description.contains("\(side) × \(side)"))
    }

    @Test("The limits that the caller passes apply to every format") func callersLimits() throws {
        let tight = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64 - 1))
        let wide = DecodingOptions(limits: ImageDecodingLimits(maxPixelCount: 96 * 64))
        for name in ["photo.jpg", "photo.png", "plain.gif", "photo.webp", "photo.avif"] {
            let data = try fixture(name)
            #expect(throws: ImagingError.self) { try Codecs.decode(data, options: tight) }
            #expect(try Codecs.decode(data, options: wide).pixelWidth == 96)
        }
    }

    @Test("A JPEG with more progressive scans than allowed is refused") func scanLimit() throws {
        let data = try fixture("progressive.jpg")
        #expect(throws: ImagingError.unsupported(.jpeg, detail: "more progressive scans than allowed")) {
            try Codecs.decode(data, options: DecodingOptions(limits: ImageDecodingLimits(maxScanCount: 2)))
        }
    }

    /// The coefficients of the progressive fixture: 96 × 64 pixels with colours at a quarter of the resolution.
    private let coefficientBytes = 96 * 64 * 3

    @Test("The memory for coefficients of progressive JPEGs is limited", arguments: [nil, 12])
    func coefficientLimit(maxPixelSize: Int?) throws {
        func options(_ bytes: Int) -> DecodingOptions {
            DecodingOptions(
                maxPixelSize: maxPixelSize,
                limits: ImageDecodingLimits(maxCoefficientBytes: bytes)
            )
        }
        let data = try fixture("progressive.jpg")
        #expect(try Codecs.decode(data, options: options(coefficientBytes)).pixelWidth == maxPixelSize ?? 96)
        let limit = coefficientBytes - 1
        let expected = ImagingError.limitExceeded(
            limit: "maxCoefficientBytes",
            allowed: limit,
            width: 96,
            height: 64
        )
        #expect(throws: expected) { try Codecs.decode(data, options: options(limit)) }
        // One scan needs no coefficients of other rows.
        #expect(try Codecs.decode(fixture("photo.jpg"), options: options(0)).pixelWidth == maxPixelSize ?? 96)
    }

    @Test("A huge progressive JPEG is refused before memory is allocated") func refusedBeforeAllocation() async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) {
            var data = try fixture("progressive.jpg")
            let frame = try #require(data.range(of: Data([0xFF, 0xC2]))).lowerBound
            for offset in [5, 7] { data.replaceSubrange(frame + offset..<frame + offset + 2, with: [0x2E, 0xE0]) }
            #expect(try ImageInfo(data: data).pixelWidth == 12_000)
            let before = try peakMemory()
            let expected = ImagingError.limitExceeded(
                limit: "maxCoefficientBytes",
                allowed: 320 << 20,
                width: 12_000,
                height: 12_000
            )
            #expect(throws: expected) { try Codecs.decode(data, options: DecodingOptions(maxPixelSize: 100)) }
            #expect(try peakMemory() - before < 200 << 20)
        }
    }

    @Test("The default limit allows progressive photos of ordinary sizes") func ordinaryPhotosAllowed() {
        let limit = ImageDecodingLimits().maxCoefficientBytes
        // 50 megapixels with all their colours; 108 megapixels with a quarter of them.
        #expect(8688 * 5792 * 6 <= limit && 12_000 * 9000 * 3 <= limit)
    }

    @Test("A JPEG of 12 bits is refused with an error that says so") func twelveBitJPEGRefused() throws {
        var bytes = [UInt8](try fixture("photo.jpg"))
        let frame = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        bytes[frame + 4] = 12
        guard case .unsupported(.jpeg, let detail) = Codecs.diagnose(Data(bytes)) else {
            Issue.record("12 bits were not refused")
            return
        }
        #expect(detail.contains("12 bits"))
        // ImageInfo, which reads only the header, throws the same error.
        #expect(throws: ImagingError.unsupported(.jpeg, detail: detail)) { try ImageInfo(data: Data(bytes)) }
    }

    @Test("A truncated JPEG or PNG shows its upper rows", arguments: ["photo.jpg", "photo.png"])
    func truncatedRows(name: String) throws {
        let data = try fixture(name)
        let whole = try picture(name).bitmap()
        let half = try Codecs.decode(data.prefix(data.count * 3 / 4)).bitmap()
        #expect(half.width == 96 && half.height == 64)
        #expect(Array(half.rows.prefix(10)) == Array(whole.rows.prefix(10)))
        let last = half[50, 63]
        // Missing rows are grey in a JPEG and transparent in a PNG.
        if name.hasSuffix("png") {
            #expect(last.a == 0 && half.hasAlpha)
        } else {
            #expect(last != whole[50, 63] && !half.hasAlpha)
        }
        let small = try Codecs.decode(data.prefix(data.count * 3 / 4), options: DecodingOptions(maxPixelSize: 48))
        #expect(small.pixelWidth == 48 && small.pixelHeight == 32)
    }

    @Test(
        "Truncated images of other kinds keep their size",
        arguments: ["interlaced.png", "progressive.jpg", "plain.gif", "photo.gif"]
    )
    func truncatedSize(name: String) throws {
        let data = try fixture(name)
        let half = try Codecs.decode(data.prefix(data.count * 3 / 4))
        #expect(half.pixelWidth == 96 && half.pixelHeight == 64)
    }

    @Test("A header alone is an error", arguments: ["photo.jpg", "photo.png", "plain.gif", "photo.webp", "photo.avif"])
    func headerAlone(name: String) throws {
        let data = try fixture(name)
        let start: Int
        switch name {
        case "photo.jpg": start = try #require(data.range(of: Data([0xFF, 0xDA]))).upperBound + 12
        case "photo.png": start = try #require(data.range(of: Data("IDAT".utf8))).upperBound + 2
        case "plain.gif": start = 13 + 3 * 128 + 10
        default: start = 100
        }
        #expect(Codecs.diagnose(data.prefix(start))?.malformedType != nil, "\(name)")
        #expect(Image(data: data.prefix(start)) == nil)
    }

    @Test("An AVIF whose coded image is far larger than announced is refused") func hiddenHugeAVIF() throws {
        var data = try fixture("photo.avif")
        // The sequence header of the coded image: its length, then flags, then sizes with their number of bits.
        let header = try #require(data.range(of: Data([0x12, 0x00, 0x0A]))).upperBound + 1
        data[header + 1] |= 0b0011_1111
        for offset in 2...5 { data[header + offset] = 0xFF }
        #expect(Codecs.diagnose(data) == .malformed(.avif, detail: "Decoding of color planes failed"))
    }

    @Test("A GIF with a frame far larger than its screen is refused") func hugeGIFFrame() throws {
        var data = try fixture("no-screen.gif")
        for offset in [6, 8] { data[offset] = 1 }
        let frame = try #require(data.firstIndex(of: 0x2C))
        for offset in 5...8 { data[frame + offset] = 0xFF }
        let error = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: 1 << 28,
            width: 65_535,
            height: 65_535
        )
        #expect(Codecs.diagnose(data) == error)
    }

    @Test("A profile that claims millions of names does not take memory") func profileMemory() async {
        // This runs in a process of its own, where no other test takes memory.
        await #expect(processExitsWith: .success) {
            var data = try fixture("display-p3.jpg")
            // The profile claims to have its name in sixteen million languages.
            let name = try #require(data.range(of: Data("mluc".utf8))).lowerBound
            data[name + 8] = 1
            let before = try peakMemory()
            #expect(try ImageInfo(data: data).colorProfileName == nil)
            #expect(try peakMemory() - before < 200 << 20)
        }
    }

    @Test("Profiles that are too long to be read leak no memory") func overlongProfilesNoLeak() async {
        // In a process of its own, where no other test takes memory: a leak would be half a kilobyte for each profile.
        await #expect(processExitsWith: .success) {
            let few: [UInt8] = [1, 2, 3]
            let before = try peakMemory()
            #expect((0..<20_000).allSatisfy { _ in kf_profile_open(few, 1 << 32) == nil })
            #expect(try peakMemory() - before < 4 << 20)
        }
    }

    @Test("A missing file gives no image") func missingFile() {
        #expect(Image(contentsOfFile: "/nowhere/at/all.png") == nil)
    }

    @Test("Errors are described in one line") func errorDescriptions() throws {
        let errors = [
            ImagingError.emptyData, .unsupported(.heic, detail: "x"), .malformed(.jpeg, detail: "y"),
            .outOfMemory(bytes: 9),
        ]
        for error in errors {
            #expect(!error.description.isEmpty && !error.description.contains("\n"))
        }
    }
}
