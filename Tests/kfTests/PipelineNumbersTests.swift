// Every number of a pipeline's steps, measured on pixels against what the pages say it means.

import Foundation
import KFImaging
import Kingfisher
import Testing

@testable import kf

@Suite struct PipelineNumbersTests {
    @Test("A number means what its page says", arguments: Measurement.all) func measured(_ measurement: Measurement)
        throws
    {
        let steps = try PipelineParser.parse(measurement.steps)
        let logo = OverlayFile(image: Picture.plain(0xFFFF_0000, 5, 5).image, key: "logo")
        let processor = try #require(PipelineStep.processor(of: steps, files: ["./logo": logo]))
        let options = KingfisherParsedOptionsInfo(nil)
        let image = processor.process(item: .image(measurement.picture.image), options: options)
        let pixels = MeasuredPixels(try #require(image?.cgImage))
        for expectation in measurement.expectations { expectation.check(pixels) }
    }

    @Test("Every step that takes a number is measured") func complete() {
        let measured = Set(Measurement.all.map { $0.steps.prefix { $0 != "(" } })
        for entry in PipelineParser.steps where entry.usage.dropFirst(entry.name.count).contains(where: \.isUppercase) {
            #expect(measured.contains(entry.name[...]), "\(entry.usage)")
        }
    }
}

/// What a step makes of a picture.
struct Measurement: Sendable, CustomTestStringConvertible {
    let steps: String
    let picture: Picture
    let expectations: [Expectation]

    var testDescription: String { "\(steps) of \(picture)" }

    init(_ steps: String, _ picture: Picture, _ expectations: Expectation...) {
        (self.steps, self.picture, self.expectations) = (steps, picture, expectations)
    }
}

/// A picture to measure with.
enum Picture: Sendable {
    /// One premultiplied colour, `0xAARRGGBB`.
    case plain(UInt32, Int, Int)
    /// Red is the column, green the row.
    case map(Int, Int)
    /// Two greys that meet in the middle of 40×20 pixels.
    case edge(UInt32, UInt32)
    /// White in the middle of 20×20 black pixels, and a single grey pixel at 2, 2.
    case framed(UInt32)
    /// Nothing but a white square, 15 pixels to the right of the middle of 41×41 pixels.
    case dot

    var image: KFCrossPlatformImage {
        func grey(_ level: UInt32) -> UInt32 { 0xFF00_0000 | level << 16 | level << 8 | level }
        switch self {
        case .plain(let color, let width, let height): return SampleImages.drawn(width, height) { _, _ in color }
        case .map(let width, let height):
            return SampleImages.drawn(width, height) { x, y in 0xFF00_0000 | UInt32(x) << 16 | UInt32(y) << 8 }
        case .edge(let left, let right): return SampleImages.drawn(40, 20) { x, _ in grey(x < 20 ? left : right) }
        case .framed(let level):
            return SampleImages.drawn(20, 20) { x, y in
                let isInside = (5..<15).contains(x) && (5..<15).contains(y)
                return grey(isInside ? 255 : x == 2 && y == 2 ? level : 0)
            }
        case .dot:
            return SampleImages.drawn(41, 41) { x, y in (34...36).contains(x) && (19...21).contains(y) ? .max : 0 }
        }
    }
}

/// The pixels of a result.
struct MeasuredPixels {
    let bitmap: Bitmap

    init(_ bitmap: Bitmap) { self.bitmap = bitmap }

    /// Alpha, red, green, blue; premultiplied.
    subscript(x: Int, y: Int) -> [Int] {
        guard x < bitmap.width, y < bitmap.height else { return [] }
        return bitmap.withUnsafeBytes { bytes in
            [3, 2, 1, 0].map { Int(bytes[y * bitmap.bytesPerRow + x * 4 + $0]) }
        }
    }

    /// The sum of a component, 0…1 a pixel, and how far the middle of it is from that of the image.
    func moments(_ component: Int) -> (total: Double, across: Double, down: Double) {
        var (total, across, down) = (0.0, 0.0, 0.0)
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                let value = Double(self[x, y][component]) / 255
                total += value
                across += value * (Double(x) + 0.5 - Double(bitmap.width) / 2)
                down += value * (Double(y) + 0.5 - Double(bitmap.height) / 2)
            }
        }
        return (total, across / total, down / total)
    }
}

/// What is expected of a result.
enum Expectation: Sendable {
    case size(Int, Int)
    /// Alpha, red, green and blue of a pixel, premultiplied, within a distance.
    case pixel(Int, Int, [Double], within: Double = 1)
    /// The column and row of the picture `map` that a pixel is from.
    case from(Int, Int, at: (Int, Int) = (0, 0))
    /// The area that is not transparent.
    case area(Double)
    /// The area that is not red.
    case areaWithoutRed(Double)
    /// How far what is visible lies from the middle.
    case middle(Double, Double)

    func check(_ pixels: MeasuredPixels) {
        switch self {
        case .size(let width, let height): #expect(pixels.bitmap.size == PixelSize(width, height))
        case .pixel(let x, let y, let expected, let distance):
            let actual = pixels[x, y]
            let isNear = actual.count == 4 && zip(actual, expected).allSatisfy { abs(Double($0) - $1) <= distance }
            #expect(isNear, "\(x), \(y): \(actual), not \(expected)")
        case .from(let column, let row, let place):
            #expect(Array(pixels[place.0, place.1].dropFirst().prefix(2)) == [column, row])
        case .area(let area): #expect(abs(pixels.moments(0).total - area) < 1)
        case .areaWithoutRed(let area):
            let all = Double(pixels.bitmap.width * pixels.bitmap.height)
            let actual = all - pixels.moments(1).total
            #expect(abs(actual - area) < 1, "\(actual), not \(area)")
        case .middle(let x, let y):
            let (_, across, down) = pixels.moments(0)
            #expect(abs(across - x) < 0.2 && abs(down - y) < 0.2, "\(across), \(down)")
        }
    }
}

extension Measurement {
    static let all = sizes + places + shapes + effects + mixtures

    private static let white = Picture.plain(.max, 60, 40)

    private static let sizes = [
        Measurement("thumbnail(30x30)", white, .size(30, 20)),
        Measurement("thumbnail(30x30,exact)", white, .size(30, 30)),
        Measurement("resize(31x17)", white, .size(31, 17)), Measurement("resize(x10)", white, .size(15, 10)),
        Measurement("resize(90x90,aspectFit)", white, .size(90, 60)),
        Measurement("resize(90x90,aspectFill)", white, .size(135, 90)),
        Measurement("downsample(30x10)", white, .size(30, 20)), Measurement("smartcrop(13x7)", white, .size(13, 7)),
    ]

    private static let places = [
        Measurement("crop(10x6,0.25,1)", .map(50, 26), .size(10, 6), .from(10, 20)),
        Measurement("crop(10x6)", .map(50, 26), .size(10, 6), .from(20, 10)),
        Measurement("crop(10x6,7,3)", .map(50, 26), .size(10, 6), .from(7, 3)),
        Measurement("crop(10x6,1px,0px)", .map(50, 26), .size(10, 6), .from(1, 0)),
        Measurement("crop(10x6,45,3)", .map(50, 26), .size(5, 6), .from(45, 3)),
        Measurement("thumbnail(20x20,fill,anchor=0.25,0)", .map(60, 20), .size(20, 20), .from(10, 0)),
        Measurement("thumbnail(20x20,fill,anchor=0,0.75)", .map(20, 60), .size(20, 20), .from(0, 30)),
        Measurement(
            "pad(36x20,red,0.25,0)",
            .plain(.max, 10, 10),
            .size(36, 20),
            .pixel(3, 0, [255, 255, 0, 0], within: 0),
            .pixel(4, 0, [255, 255, 255, 255], within: 0),
            .pixel(23, 19, [255, 255, 255, 255], within: 0),
            .pixel(24, 19, [255, 255, 0, 0], within: 0)
        ),
        Measurement(
            "pad(20x30,#ff000080,0,0.3)",
            .plain(.max, 10, 10),
            .pixel(0, 2, [128, 128, 0, 0], within: 0),
            .pixel(0, 3, [255, 255, 255, 255], within: 0),
            .pixel(0, 22, [255, 255, 255, 255], within: 0),
            .pixel(0, 23, [128, 128, 0, 0], within: 0)
        ),
        Measurement("trim(0.2)", .framed(51), .size(10, 10)), Measurement("trim(0.2)", .framed(52), .size(13, 13)),
        Measurement("trim(0.6)", .framed(153), .size(10, 10)), Measurement("trim(0.6)", .framed(154), .size(13, 13)),
        Measurement("trim()", .framed(10), .size(10, 10)), Measurement("trim()", .framed(11), .size(13, 13)),
        Measurement("trim(0)", .framed(0), .size(10, 10)), Measurement("trim(0)", .framed(1), .size(13, 13)),
    ]

    /// What four rounded corners of a radius take away.
    private static func corners(_ radius: Double) -> Double { (4 - .pi) * radius * radius }

    private static let shapes = [
        Measurement("round(10)", white, .area(2400 - corners(10))),
        Measurement("round(25%)", white, .area(2400 - corners(15))),
        Measurement("round(7.5,corners=tl+br)", white, .area(2400 - corners(7.5) / 2)),
        Measurement("round(8,size=30x20)", white, .size(30, 20), .area(600 - corners(8))),
        Measurement("round(10,background=#0000ff)", white, .area(2400), .areaWithoutRed(corners(10))),
        Measurement("border(3,#0000ff)", white, .areaWithoutRed(2400 - 54 * 34), .pixel(2, 20, [255, 0, 0, 255])),
        Measurement("border(2.5,#0000ff)", white, .areaWithoutRed(2400 - 55 * 35)),
        Measurement("border(2,#0000ff80)", white, .pixel(0, 20, [255, 127, 127, 255])),
        Measurement("border(4,blue,10)", white, .areaWithoutRed(2400 - corners(10) - (52 * 32 - corners(6)))),
        Measurement("border(4,blue,25%)", white, .areaWithoutRed(2400 - corners(15) - (52 * 32 - corners(11)))),
        Measurement("rotate(30)", .dot, .middle(15 * cos(.pi / 6), 15 * sin(.pi / 6)), .area(9)),
        Measurement("rotate(-45.5)", .dot, .middle(15 * cos(45.5 * .pi / 180), -15 * sin(45.5 * .pi / 180))),
        Measurement("rotate(90)", .dot, .size(41, 41), .middle(0, 15)),
        Measurement("rotate(450)", .dot, .size(41, 41), .middle(0, 15)),
    ]

    /// The share of a Gaussian that lies below a place, in its deviations.
    private static func share(_ place: Double) -> Double { erfc(-place / 2.0.squareRoot()) / 2 }

    private static func grey(_ level: Double) -> [Double] { [255, level, level, level] }

    private static func linear(_ level: Double) -> Double {
        let value = level / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func encoded(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        return 255 * (light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
    }

    private static let brown = Picture.plain(0xFF96_6450, 4, 4)
    private static let brownLuma = 0.2126 * linear(150) + 0.7152 * linear(100) + 0.0722 * linear(80)

    private static let effects = [
        Measurement(
            "sharpen(2,1.5)",
            .edge(100, 150),
            .pixel(17, 9, grey(100 - 75 * share(-2.5 / 2)), within: 2),
            .pixel(19, 9, grey(100 - 75 * share(-0.5 / 2)), within: 2),
            .pixel(20, 9, grey(150 + 75 * share(-0.5 / 2)), within: 2)
        ),
        Measurement("sharpen(4)", .edge(100, 150), .pixel(16, 9, grey(100 - 50 * share(-3.5 / 4)), within: 2)),
        Measurement(
            "blur(3)",
            .edge(0, 250),
            .pixel(20, 9, grey(250 * share(0.5 / 3)), within: 4),
            .pixel(23, 9, grey(250 * share(3.5 / 3)), within: 4)
        ),
        Measurement(
            "colors(0.1,1,1,0)",
            .plain(0xFF80_8080, 4, 4),
            .pixel(1, 1, grey(encoded(linear(128) + 0.1)))
        ),
        Measurement(
            "colors(-0.1,1,1,0)",
            .plain(0xFF80_8080, 4, 4),
            .pixel(1, 1, grey(encoded(linear(128) - 0.1)))
        ),
        Measurement(
            "colors(0,1.2,1,0)",
            .plain(0xFF80_8080, 4, 4),
            .pixel(1, 1, grey(encoded(0.5 + 1.2 * (linear(128) - 0.5))))
        ),
        Measurement("colors(0,1,0,0)", brown, .pixel(1, 1, grey(encoded(brownLuma)))),
        Measurement(
            "colors(0,1,1.5,0)",
            brown,
            .pixel(
                1,
                1,
                [255] + [150.0, 100, 80].map { encoded(brownLuma + 1.5 * (linear($0) - brownLuma)) }
            )
        ),
        Measurement("colors(0,1,1,1)", brown, .pixel(1, 1, [255] + [150.0, 100, 80].map { encoded(2 * linear($0)) })),
        Measurement(
            "colors(0,1,1,-1.5)",
            brown,
            .pixel(1, 1, [255] + [150.0, 100, 80].map { encoded(linear($0) / pow(2, 1.5)) })
        ),
    ]

    private static let mixtures = [
        Measurement("overlay(red,0.7)", .plain(0xFF80_8080, 4, 4), .pixel(1, 1, [255, 166.1, 89.6, 89.6])),
        Measurement("overlay(red)", .plain(0xFF80_8080, 4, 4), .pixel(1, 1, [255, 191.5, 64, 64])),
        Measurement("overlay(#ff000080,0)", .plain(0xFF80_8080, 4, 4), .pixel(1, 1, [255, 191.7, 63.7, 63.7])),
        Measurement(
            "tint(#ff000040)",
            .plain(0xFF80_8080, 4, 4),
            .pixel(
                1,
                1,
                [255, encoded(64.0 / 255 + 191.0 / 255 * linear(128))]
                    + [Double](repeating: encoded(191.0 / 255 * linear(128)), count: 2)
            )
        ),
        Measurement("tint(#ff000040)", .plain(0, 4, 4), .pixel(1, 1, [64, 64, 0, 0])),
        Measurement("blend(normal,0.25,red)", .plain(0xFF00_00FF, 4, 4), .pixel(1, 1, [255, 191.25, 0, 63.75])),
        Measurement("blend(normal,0.25)", .plain(0xFF00_00FF, 4, 4), .pixel(1, 1, [63.75, 0, 0, 63.75])),
        Measurement("blend(multiply,0.5,gray)", .plain(0xFF40_4040, 4, 4), .pixel(1, 1, grey(64 + 16.06))),
        Measurement(
            "composite(sourceOver,0.75,red)",
            .plain(0xFF00_00FF, 4, 4),
            .pixel(1, 1, [255, 63.75, 0, 191.25])
        ),
        Measurement(
            "overlay(./logo,anchor=0.25,1,opacity=0.4)",
            .plain(.max, 45, 20),
            .pixel(9, 15, grey(255)),
            .pixel(10, 14, grey(255)),
            .pixel(10, 15, [255, 255, 153, 153]),
            .pixel(14, 19, [255, 255, 153, 153]),
            .pixel(15, 19, grey(255))
        ),
        Measurement(
            "overlay(./logo,anchor=0,0,scale=2)",
            .plain(.max, 45, 20),
            .pixel(9, 9, [255, 255, 0, 0]),
            .pixel(10, 9, grey(255)),
            .pixel(9, 10, grey(255))
        ),
        Measurement(
            "overlay(./logo,anchor=0,0,width=7)",
            .plain(.max, 45, 20),
            .pixel(6, 6, [255, 255, 0, 0]),
            .pixel(7, 6, grey(255))
        ),
        Measurement(
            "overlay(./logo,anchor=0,0,width=20%)",
            .plain(.max, 45, 20),
            .pixel(8, 8, [255, 255, 0, 0]),
            .pixel(9, 8, grey(255))
        ),
    ]
}
