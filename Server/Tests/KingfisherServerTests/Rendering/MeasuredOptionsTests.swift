// Every number of the options of URLs, measured on pixels against what the page of options says it means.

import Foundation
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MeasuredOptionsTests {
    @Test("A number means what its page says") func measured() async throws {
        try await RenderingRig.run { rig in
            for (path, image) in [("/map", Self.map(100, 60)), ("/square", Self.map(25, 25)), ("/half", Self.half)] {
                rig.server.route(path, .data(try #require(image.pngData())))
            }
            for measurement in Measurement.all {
                let image = try await rig.pixels(measurement.options, path: measurement.path)
                for expectation in measurement.expectations { expectation.check(image, measurement.options) }
            }
        }
    }

    /// Numbers that other tests measure, or that no pixel depends on.
    private static let measuredElsewhere = [
        // In RenderedFilesTests: bytes, qualities, frames.
        "quality", "format_quality", "max_bytes", "max_animation_frames",
        // In FoundQualityTests.
        "autoquality",
        // In FaultySourcesTests and RenderingErrorsTests: limits that are refusals.
        "max_src_resolution", "max_src_file_size", "max_animation_frame_resolution", "expires",
        // Have imgproxy's meaning.
        "blur", "sharpen", "trim",
        // Without effect.
        "watermark",
    ]

    @Test("Every option that takes a number is measured") func complete() {
        let segments = Measurement.all.flatMap { $0.options.split(separator: "/") }
        let measured = segments.map { String($0.prefix { $0 != ":" }) }
        for option in OptionTable.all where !Self.measuredElsewhere.contains(option.names[0]) {
            let takesNumber = option.arguments.contains { argument in
                ["number", "integer", "multiple"].contains { argument.words.contains($0) }
            }
            #expect(!takesNumber || option.names.contains(where: measured.contains), "\(option.names[0])")
        }
    }

    /// Red is the column, green the row, blue 128.
    private static func map(_ width: Int, _ height: Int) -> Image {
        Image(
            cgImage: Bitmap(width: width, height: height, hasAlpha: false) { bytes, bytesPerRow in
                for y in 0..<height {
                    for x in 0..<width {
                        let pixel: [UInt8] = [128, UInt8(y), UInt8(x), 255]
                        for (offset, value) in pixel.enumerated() { bytes[y * bytesPerRow + x * 4 + offset] = value }
                    }
                }
            }
        )
    }

    /// White, of which half shows.
    private static let half = Image(
        cgImage: Bitmap(width: 10, height: 10) { bytes, _ in for place in bytes.indices { bytes[place] = 128 } }
    )
}

/// What options make of a picture.
private struct Measurement {
    enum Expectation {
        case size(Int, Int)
        /// A pixel is from this column and row of the picture.
        case from(Int, Int, at: (Int, Int) = (0, 0))
        case clear(at: (Int, Int))
        /// Blue, green, red and alpha, within 1.
        case pixel(Int, Int, Int, Int, at: (Int, Int) = (0, 0))

        func check(_ pixels: Pixels, _ options: String) {
            switch self {
            case .size(let width, let height): #expect(pixels.size == [width, height], "\(options)")
            case .from(let column, let row, let place):
                let actual = pixels.components(place.0, place.1)
                #expect(actual == [128, row, column, 255], "\(options): \(place)")
            case .clear(let place): #expect(pixels.components(place.0, place.1) == [0, 0, 0, 0], "\(options)")
            case .pixel(let blue, let green, let red, let alpha, let place):
                let actual = pixels.components(place.0, place.1)
                let isNear = zip(actual, [blue, green, red, alpha]).allSatisfy { abs($0 - $1) <= 1 }
                #expect(isNear && actual.count == 4, "\(options): \(actual)")
            }
        }
    }

    let options: String
    var path = "/map"
    let expectations: [Expectation]

    init(_ options: String, of path: String = "/map", _ expectations: Expectation...) {
        (self.options, self.path, self.expectations) = (options, path, expectations)
    }
}

extension Measurement {
    static let all = sizes + places + canvases + looks

    private static let sizes = [
        Measurement("w:30", .size(30, 18)), Measurement("h:30", .size(50, 30)), Measurement("w:200", .size(100, 60)),
        Measurement("w:200/el:1", .size(200, 120)), Measurement("s:20:40", .size(20, 12)),
        Measurement("rs:force:33:17", .size(33, 17)), Measurement("rs:fill:30:30", .size(30, 30)),
        Measurement("z:0.5", .size(50, 30)), Measurement("z:0.5:0.25", .size(50, 15)),
        Measurement("w:40/z:0.5", .size(20, 12)),
        Measurement("mh:120", .size(200, 120)), Measurement("mw:200", .size(200, 120)),
        Measurement("w:25/dpr:2", .size(50, 30)), Measurement("w:50/dpr:0.5", .size(25, 15)),
        Measurement("w:80/dpr:2", .size(100, 60)), Measurement("mrd:50", .size(50, 30)),
        Measurement("pd:10/mrd:60", .size(60, 40)),
    ]

    private static let places = [
        Measurement("c:20:10:nowe:5:7", .size(20, 10), .from(5, 7), .from(24, 16, at: (19, 9))),
        Measurement("c:20:10:soea:5:7", .size(20, 10), .from(75, 43)),
        Measurement("c:20:10:no:-6:4", .size(20, 10), .from(34, 4)),
        Measurement("c:20:10:ce:0.1:-0.1", .size(20, 10), .from(50, 20)),
        Measurement("c:0.5:0.5", .size(50, 30), .from(26, 16)),
        Measurement("c:0.2:0", .size(20, 60), .from(40, 0)),
        Measurement("c:20:10:fp:0.3:0.5", .size(20, 10), .from(20, 25)),
        Measurement("c:20:10/g:soea:1:2", .size(20, 10), .from(79, 48)),
        Measurement("c:200:10:no", .size(100, 10), .from(0, 0)),
        Measurement("rs:fill:50:60/g:we:10:0", .size(50, 60), .from(10, 0)),
        Measurement("rs:fill:50:60/g:ea:0.2:0", .size(50, 60), .from(30, 0)),
        Measurement("rs:fill:50:60/g:ea:80:0", .size(50, 60), .from(0, 0)),
        Measurement("rs:fill:50:60/g:fp:0.4:0.5", .size(50, 60), .from(15, 0)),
        Measurement("rs:fill:100:20/g:no:0:7", .size(100, 20), .from(0, 7)),
        Measurement("rs:fill:25:30/dpr:2/g:we:5:0", .size(50, 60), .from(10, 0)),
    ]

    private static let canvases = [
        Measurement(
            "s:120:80:0:1:nowe:5:7",
            .size(120, 80),
            .from(0, 0, at: (5, 7)),
            .clear(at: (4, 7)),
            .clear(at: (5, 6)),
            .from(99, 59, at: (104, 66)),
            .clear(at: (105, 66))
        ),
        Measurement("s:120:80:0:1:soea:5:7", .from(0, 0, at: (15, 13)), .from(99, 59, at: (114, 72))),
        Measurement("w:120/h:80/ex:1:ce:-4:2", .from(0, 0, at: (6, 12))),
        Measurement("rs:fit:120:80:0:1:no:0:0.1", .from(0, 0, at: (10, 8))),
        Measurement("s:50:50:0:1/dpr:2", .size(100, 100)),
        Measurement("rs:fit:100:100/exar:1:no:0:10", .size(100, 100), .from(0, 0, at: (0, 10)), .clear(at: (0, 9))),
        Measurement("rs:fit:200:100/exar:1:we", .size(120, 60), .from(99, 0, at: (99, 0)), .clear(at: (100, 0))),
        Measurement("pd:1:2:3:4", .size(106, 64), .from(0, 0, at: (4, 1)), .clear(at: (3, 1)), .clear(at: (4, 0))),
        Measurement("pd:5", .size(110, 70), .from(0, 0, at: (5, 5))),
        Measurement("pd:5:6", .size(112, 70), .from(0, 0, at: (6, 5))),
        Measurement("pd:5:6:7", .size(112, 72), .from(0, 0, at: (6, 5))),
        Measurement("pd:::7", .size(100, 67), .from(0, 0)),
        Measurement("w:25/dpr:2/pd:3", .size(62, 42)),
    ]

    private static let looks = [
        Measurement("rot:90", .size(60, 100), .from(0, 59), .from(0, 0, at: (59, 0))),
        Measurement("rot:-90", .size(60, 100), .from(99, 0), .from(0, 0, at: (0, 99))),
        Measurement("rot:180", .size(100, 60), .from(99, 59)), Measurement("rot:450", .from(0, 59)),
        Measurement("bg:ff0000", of: "/half", .pixel(127, 127, 255, 255)),
        Measurement("bg:f00", of: "/half", .pixel(127, 127, 255, 255)),
        Measurement("bg:10:20:30", of: "/half", .pixel(143, 138, 133, 255)),
        Measurement("bg:10:20:30/pd:4", of: "/half", .pixel(30, 20, 10, 255), .pixel(143, 138, 133, 255, at: (4, 4))),
        Measurement("pix:1", of: "/square", .from(0, 0), .from(24, 24, at: (24, 24))),
        Measurement(
            "pix:10",
            of: "/square",
            .from(5, 5),
            .from(5, 5, at: (9, 9)),
            .from(15, 5, at: (10, 9)),
            .from(15, 15, at: (19, 19)),
            .from(22, 15, at: (20, 19)),
            .from(22, 22, at: (24, 24))
        ),
    ]
}

extension Pixels {
    /// Blue, green, red and alpha of a pixel, premultiplied; none beyond the edges.
    fileprivate func components(_ x: Int, _ y: Int) -> [Int] {
        guard let bitmap = image.cgImage, x < bitmap.width, y < bitmap.height else { return [] }
        return bitmap.withUnsafeBytes { bytes in (0..<4).map { Int(bytes[y * bitmap.bytesPerRow + x * 4 + $0]) } }
    }
}
