// JPEGs that are changed: without markers, of other kinds, cut short; and how they are parsed.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

/// The offset of a marker in a JPEG, up to its first scan.
func place(of marker: UInt8, in data: Data) -> Int? {
    var at = data.startIndex + 2
    while at + 3 < data.endIndex {
        if data[at + 1] == marker { return at }
        at += 2 + Int(data[at + 2]) << 8 + Int(data[at + 3])
    }
    return nil
}

@Suite struct JPEGTests {
    /// A JPEG without its Adobe marker.
    private func withoutAdobeMarker(_ name: String) throws -> Data {
        let data = try fixture(name)
        let start = try #require(place(of: 0xEE, in: data))
        return data.prefix(start) + data.dropFirst(start + 2 + Int(data[start + 2]) << 8 + Int(data[start + 3]))
    }

    @Test(
        "Inks are read the same without Adobe's marker, in full size and small",
        arguments: ["cmyk.jpg", "cmyk-profile.jpg", "cmyk-progressive.jpg"],
        [nil, 33, 10] as [Int?]
    )
    func inksWithoutMarker(name: String, limit: Int?) throws {
        let options = DecodingOptions(maxPixelSize: limit)
        let bare = try Codecs.decode(withoutAdobeMarker(name), options: options).bitmap()
        #expect(try bare.rows == picture(name, maxPixelSize: limit).bitmap().rows)
        guard name != "cmyk-profile.jpg" else { return }
        let likeness = try bare.likeness(to: picture("photo.png", maxPixelSize: limit).bitmap())
        #expect(likeness > 26, "\(likeness) dB")
    }

    @Test("Previews of inks without Adobe's marker show the scene", .enabled(if: fixtureIsolation == .inProcess))
    func inkPreviews() throws {
        let decoder = try ProgressiveJPEG()
        decoder.append(try withoutAdobeMarker("cmyk-progressive.jpg"))
        let preview = try decoder.image(afterScan: decoder.scanCount - 1).bitmap()
        let likeness = try preview.likeness(to: picture("photo.png").bitmap())
        #expect(likeness > 26, "\(likeness) dB")
    }

    @Test(
        "Depths other than 8 bits are refused with advice",
        arguments: ["progressive.jpg", "photo.jpg", "rgb.jpg"],
        [9, 10, 12, 16]
    )
    func otherDepths(name: String, bits: UInt8) throws {
        var data = try fixture(name)
        let frame = try #require(place(of: name == "progressive.jpg" ? 0xC2 : 0xC0, in: data))
        data[frame + 4] = bits
        let error = try #require(Codecs.diagnose(data))
        #expect(
            error.description == "JPEG is not supported here: \(bits) bits a component; save the image with "
                + "8 bits a component, or as 16-bit PNG"
        )
    }

    @Test(
        "Lossless and hierarchical JPEGs are refused by name",
        arguments: [
            (0xC3, "lossless JPEG"), (0xC7, "lossless JPEG"), (0xCB, "lossless JPEG"), (0xC5, "hierarchical JPEG"),
        ]
    )
    func unsupportedProcesses(marker: UInt8, words: String) throws {
        var data = try fixture("photo.jpg")
        data[try #require(place(of: 0xC0, in: data)) + 1] = marker
        guard case .unsupported(.jpeg, let detail)? = Codecs.diagnose(data) else {
            Issue.record("not refused")
            return
        }
        #expect(detail.hasPrefix(words) && detail.contains("; save the image as"))
    }

    @Test("The missing part of a truncated JPEG is grey")
    func truncatedImage() throws {
        // With arithmetic coding the decoder goes on decoding zeros, into whatever they mean.
        for name in ["photo.jpg", "restarts.jpg", "440.jpg"] {
            let data = try fixture(name)
            let start = try #require(place(of: 0xDA, in: data))
            let half = try Codecs.decode(data.prefix(start + (data.count - start) / 2)).bitmap()
            let (whole, last) = (try picture(name).bitmap(), half[95, 63])
            #expect(Array(half.rows.prefix(8)) == Array(whole.rows.prefix(8)), "\(name)")
            #expect(last.r == last.g && last.g == last.b, "\(name): \(last)")
            #expect(!half.hasAlpha)
        }
    }

    @Test("A file that ends after its first scan is shown") func completeScans() throws {
        let data = try fixture("progressive.jpg")
        let first = try #require(place(of: 0xDA, in: data))
        // Once anything of the second scan is there, the first is complete.
        let second = try #require(data.range(of: Data([0xFF, 0xDA]), in: first + 4..<data.count)).lowerBound
        for length in second..<data.count {
            #expect(Codecs.diagnose(data.prefix(length)) == nil, "\(length) bytes")
        }
    }

    @Test(
        "Data that end before the first row are an error",
        arguments: ["photo.jpg", "progressive.jpg", "separate.jpg", "cmyk.jpg", "arithmetic.jpg"]
    )
    func noCompleteRow(name: String) throws {
        let data = try fixture(name)
        let start = try #require(place(of: 0xDA, in: data))
        let header = 2 + Int(data[start + 2]) << 8 + Int(data[start + 3])
        let error = try #require(Codecs.diagnose(data.prefix(start + header + 4)))
        #expect(error.description == "the JPEG data is damaged: the data ends before the first row")
    }

    /// libjpeg visits all markers that it keeps for each further one: without a limit, a megabyte takes a minute.
    @Test("Only the first of thousands of markers are read") func thousandsOfMarkers() throws {
        let (photo, turned) = (try fixture("photo.jpg"), try fixture("orientation-6.jpg"))
        let start = try #require(place(of: 0xE1, in: turned))
        let exif = turned[start..<start + 2 + Int(turned[start + 2]) << 8 + Int(turned[start + 3])]
        // Segments of nothing but their length.
        let empty = Data((0..<5000).flatMap { _ in [0xFF, 0xE1, 0, 2] as [UInt8] })
        for (segments, orientation) in [(exif + empty, Orientation.right), (empty + exif, .up)] {
            let image = try Codecs.decode(photo.prefix(2) + segments + photo.dropFirst(2))
            #expect(image.imageOrientation == orientation)
            #expect(image.cgImage?.likeness(to: try picture("photo.jpg").bitmap()) == .infinity)
        }
    }
}

@Suite struct JPEGSegmentsTests {
    private func events(_ data: Data, chunk: Int) -> [JPEGSegmentParser.Event] {
        var segments = JPEGSegmentParser()
        var events: [JPEGSegmentParser.Event] = []
        for start in stride(from: 0, to: data.count, by: chunk) {
            data.dropFirst(start).prefix(chunk).withUnsafeBytes { bytes in
                _ = segments.parse(bytes) { event in
                    events.append(event)
                    return true
                }
            }
        }
        return events
    }

    @Test(
        "Segments are the same whatever the chunks the bytes arrive in",
        arguments: ["progressive.jpg", "thumbnail.jpg", "restarts.jpg", "separate.jpg", "cmyk-profile.jpg"]
    )
    func chunkedSegments(name: String) throws {
        let data = try fixture(name)
        let whole = events(data, chunk: data.count)
        #expect(whole.first == .marker(0xD8) && whole.last == .marker(0xD9))
        for chunk in [1, 2, 3, 7, 100] { #expect(events(data, chunk: chunk) == whole) }
    }

    @Test("Embedded thumbnails are not parsed") func embeddedThumbnails() throws {
        let all = events(try fixture("thumbnail.jpg"), chunk: .max / 2)
        // Baseline outside, progressive inside; one scan outside, ten inside.
        #expect(all.compactMap(JPEGFrameHeader.init) == [try #require(JPEGFrameHeader(.segment(0xC0, first: 8)))])
        #expect(all.count { $0 == .marker(0xDA) } == 1)
    }

    @Test("Random bytes are parsed without an end, the same in any chunks") func randomBytes() {
        var generator = SeededGenerator(state: 3)
        for _ in 0..<200 {
            let bytes = (0..<300).map { _ in
                Bool.random(using: &generator) ? 0xFF : UInt8.random(in: 0...255, using: &generator)
            }
            #expect(events(Data(bytes), chunk: 1) == events(Data(bytes), chunk: 300))
        }
    }
}
