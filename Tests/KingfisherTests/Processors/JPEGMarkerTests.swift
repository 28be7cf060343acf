// Markers of JPEGs: the bytes that `data.kf.contains(jpeg:)` counts as one.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct JPEGMarkerTests {
    /// A JPEG of a frame, a table and a scan, with another JPEG's bytes inside an EXIF block.
    private func jpeg(frame: UInt8, hidden: UInt8) -> Data {
        func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
            [0xFF, marker, 0, UInt8(content.count + 2)] + content
        }
        let thumbnail: [UInt8] = [0xFF, 0xD8, 0xFF, hidden, 0, 3, 8, 0xFF, 0xDB, 0xFF, 0xDD, 0xFF, 0xFE]
        let head: [UInt8] = [0xFF, 0xD8] + segment(0xE1, thumbnail) + segment(0xC4, [1, 2])
        return Data(head + segment(frame, [8, 0, 1, 0, 1]) + segment(0xDA, [1]) + [1, 2, 0xFF, 0xD3, 4, 0xFF, 0xD9])
    }

    @Test("Markers inside segments do not count, and the search ends with the first scan's header")
    func markersInSegments() {
        let progressive = jpeg(frame: 0xC2, hidden: 0xC0), baseline = jpeg(frame: 0xC0, hidden: 0xC2)
        #expect(progressive.kf.contains(jpeg: .SOF2) && !progressive.kf.contains(jpeg: .SOF0))
        #expect(baseline.kf.contains(jpeg: .SOF0) && !baseline.kf.contains(jpeg: .SOF2))
        for there: ImageFormat.JPEGMarker in [.DHT, .SOS] { #expect(progressive.kf.contains(jpeg: there)) }
        for absent: ImageFormat.JPEGMarker in [.DQT, .DRI, .COM, .EOI, .RSTn(3), .APPn] {
            #expect(!progressive.kf.contains(jpeg: absent), "\(absent)")
        }
    }

    @Test("Only JPEGs have markers") func otherFormatMarkers() {
        let rubbish = Data([1] + jpeg(frame: 0xC2, hidden: 0xC0))
        #expect(!rubbish.kf.contains(jpeg: .SOF2))
        #expect(!Data([0xFF, 0xD8, 0xFF, 0xDA]).kf.contains(jpeg: .SOS))
        #expect(!Data().kf.contains(jpeg: .SOS))
        // The indices of a slice differ from the offsets of its bytes.
        #expect(rubbish.dropFirst().kf.contains(jpeg: .SOF2))
    }

    @Test("A scan that has not arrived is not found") func incompleteData() {
        let whole = jpeg(frame: 0xC2, hidden: 0xC0)
        #expect(whole.prefix(while: { _ in true }).kf.contains(jpeg: .SOS))
        #expect(!whole.prefix(whole.count - 12).kf.contains(jpeg: .SOS))
        #expect(whole.prefix(whole.count - 12).kf.contains(jpeg: .SOF2))
    }

    @Test("A marker is two bytes") func markerLength() {
        #expect(ImageFormat.JPEGMarker.RSTn(5).bytes == [0xFF, 0xD5])
        #expect(ImageFormat.JPEGMarker.RSTn(.max).bytes.count == 2)
        #expect(ImageFormat.JPEGMarker.SOF2.bytes == [0xFF, 0xC2])
    }
}
