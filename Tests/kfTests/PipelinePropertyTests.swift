// What holds for every pipeline, tried with random ones: turned files count as upright ones, steps repeated, sizes
// told.

import Foundation
import KFImaging
import Kingfisher
import KingfisherTestSupport
import Testing

@testable import kf

@Suite(.tags(.processes)) struct PipelinePropertyTests {
    // MARK: Turned and upright

    @Test("A step makes the same of a turned file and of an upright one", arguments: 0..<60)
    func turned(number: Int) throws {
        var random = TestSeed.generator(number)
        let shown = RandomImage.bitmap(using: &random)
        let files = try RandomImage.turnedFiles(of: shown)
        for _ in 0..<3 {
            let step = RandomStep.text(for: shown.size, using: &random)
            let expected = try made(step, of: files.upright)
            for file in files.turned {
                let result = try made(step, of: file.data)
                let difference = RandomImage.difference(result, expected)
                // Turned before it is scaled or after: sums are rounded in each direction.
                let isNear =
                    difference.map { $0 <= (RandomStep.scales(step) ? 2 : 0) } ?? (result == nil && expected == nil)
                #expect(isNear, "\(step) of \(file.name): \(difference ?? -1), seed \(TestSeed.value)")
            }
        }
    }

    @Test("A step makes about the same of a turned JPEG", arguments: 0..<20) func turnedJPEG(number: Int) throws {
        var random = TestSeed.generator(number)
        let (width, height) = (Int.random(in: 40...90, using: &random), Int.random(in: 40...90, using: &random))
        let shown = try #require(SampleImages.gradient(width, height).cgImage)
        let steps = ["thumbnail(20x20)", "thumbnail(17x31,exact)", "downsample(30x)", "crop(20x30,0.2,0.7)", "flip(h)"]
        for step in steps {
            let expected = try made(step, of: RandomImage.file(of: shown, .up, as: .jpeg))
            for orientation in Orientation.allCases {
                let result = try made(step, of: RandomImage.file(of: shown, orientation, as: .jpeg))
                let outcome = ImageComparison.compare(try #require(result), try #require(expected), atLeast: 38)
                #expect(outcome.isAlike, "\(step), \(orientation), \(width)×\(height): \(outcome)")
            }
        }
    }

    private func made(_ text: String, of data: Data) throws -> Bitmap? {
        let processor = try #require(PipelineStep.processor(of: try PipelineParser.parse(text)), "\(text)")
        return processor.process(item: .data(data), options: KingfisherParsedOptionsInfo(nil))?.cgImage
    }

    // MARK: Twice

    @Test("What a step has done, it does not do again; what undoes itself leaves the image", arguments: 0..<40)
    func twice(number: Int) throws {
        var random = TestSeed.generator(number)
        let image = RandomImage.bitmap(using: &random)
        let data = try RandomImage.file(of: image, .up, as: .png)
        let (width, height) = (Int.random(in: 1...50, using: &random), Int.random(in: 1...50, using: &random))
        let size = "\(width)x\(height)"
        for step in [
            "crop(\(size),0.3,0.9)", "thumbnail(\(min(width, image.width))x\(min(height, image.height)),fill)",
            "resize(\(size))", "thumbnail(\(size))", "thumbnail(\(size),exact)",
            "downsample(\(size))", "smartcrop(\(size))", "pad(\(size),red)",
        ] {
            let once = try made(step, of: data)
            let twice = try made("\(step)|>\(step)", of: data)
            #expect(RandomImage.difference(twice, once) == 0, "\(step) of \(image.size), seed \(TestSeed.value)")
        }
        for nothing in ["flip(h)|>flip(h)", "flip(v)|>flip(v)", "rotate(90)|>rotate(-90)", "rotate(180)|>rotate(180)"] {
            #expect(
                try RandomImage.difference(made(nothing, of: data), image) == 0,
                "\(nothing), seed \(TestSeed.value)"
            )
        }
    }

    // MARK: Sizes

    @Test("Names, lines of JSON and headers have the size of what was written", arguments: [0, 1])
    func sizes(number: Int) async throws {
        let place = TestDirectory()
        var random = TestSeed.generator(number)
        for index in 0..<6 {
            let file = try RandomImage.turnedFiles(of: RandomImage.bitmap(using: &random)).turned
            try place.write(try #require(file.randomElement(using: &random)).data, "\(index)")
        }
        let step = RandomStep.text(
            for: PixelSize(20, 20),
            using: &random,
            only: ["thumbnail", "resize", "pad", "rotate"]
        )
        let names = (0..<6).map(String.init)
        let run = try await place.kf(
            ["process"] + names + ["-o", "out/{name}-{width}x{height}.png", "--json", "--process", step]
        )
        #expect(run.status == 0, "\(step): \(run.errors)")
        for line in try run.objects {
            let output = try #require(line["output"] as? String)
            let info = try ImageInfo(data: place.data(output))
            let told = [line["width"] as? Int, line["height"] as? Int]
            #expect(told == [info.pixelWidth, info.pixelHeight])
            #expect(output.hasSuffix("-\(info.pixelWidth)x\(info.pixelHeight).png"), "\(step): \(output)")
            let image = try #require(Image(data: try place.data(output)))
            #expect(image.cgImage?.size == PixelSize(info.pixelWidth, info.pixelHeight))
        }
    }
}

/// Images for properties, and files of them.
enum RandomImage {
    /// Noise in some colours, opaque and less so, with a border.
    static func bitmap(using random: inout SeededGenerator) -> Bitmap {
        func pixel() -> UInt32 {
            let alpha = [0, 255, 255, UInt32.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 255
            return (0..<3).reduce(alpha << 24) { $0 | UInt32.random(in: 0...alpha, using: &random) << (8 * $1) }
        }
        let (width, height) = (Int.random(in: 4...40, using: &random), Int.random(in: 4...40, using: &random))
        let pixels = (0..<width * height).map { place in
            [0, width - 1].contains(place % width) || place < width ? 0xFF20_4060 : pixel()
        }
        return Bitmap(width: width, height: height) { rows, bytesPerRow in
            for (place, pixel) in pixels.enumerated() {
                let offset = place / width * bytesPerRow + place % width * 4
                rows.storeBytes(of: pixel, toByteOffset: offset, as: UInt32.self)
            }
        }
    }

    /// A file that shows a bitmap, and says that it is to be turned for that.
    static func file(of shown: Bitmap, _ orientation: Orientation, as type: ImageContentType) throws -> Data {
        let inverse: Orientation =
            switch orientation {
            case .left: .right
            case .right: .left
            default: orientation
            }
        // Little-endian, with one field: tag 0x0112, type 3, count 1.
        let field: [UInt8] = [1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, UInt8(orientation.exif), 0, 0, 0, 0, 0, 0, 0]
        var options = ImageEncodingOptions(quality: 0.95, lossless: type != .jpeg)
        options.subsampling = .full
        options.metadata.exif = Data("II".utf8) + [42, 0, 8, 0, 0, 0] + field
        return try Codecs.encode(Image(cgImage: shown.oriented(from: inverse)), as: type, options)
    }

    /// Lossless files that show a bitmap: one that is not turned, and those that are.
    static func turnedFiles(
        of shown: Bitmap
    ) throws -> (upright: Data, turned: [(name: String, data: Data)]) {
        let types = [ImageContentType.png, .webp]
        let turned = try types.flatMap { type in
            try Orientation.allCases.map { ("\(type) \($0)", try file(of: shown, $0, as: type)) }
        }
        return (try file(of: shown, .up, as: .png), turned)
    }

    /// The largest difference of a component; nil where one is missing, or the sizes differ.
    static func difference(_ one: Bitmap?, _ other: Bitmap?) -> Int? {
        guard let one, let other, one.size == other.size else { return nil }
        return one.withUnsafeBytes { bytes in
            other.withUnsafeBytes { others in
                zip(bytes, others).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
            }
        }
    }
}

/// Steps with random arguments.
enum RandomStep {
    /// Whether a step makes pixels from a number of others on both axes.
    static func scales(_ step: String) -> Bool {
        ["thumbnail", "resize", "downsample", "pad"].contains { step.hasPrefix($0) }
    }

    static func text(
        for size: PixelSize,
        using random: inout SeededGenerator,
        only names: [String]? = nil
    ) -> String {
        func side() -> Int { .random(in: 1...50, using: &random) }
        func part() -> String { "\(Double(Int.random(in: 0...20, using: &random)) / 20)" }
        func number(_ range: ClosedRange<Double>) -> String {
            "\((Double.random(in: range, using: &random) * 100).rounded() / 100)"
        }
        let mode = ["fit", "fill", "exact"].randomElement(using: &random) ?? "fit"
        let anchor = Bool.random(using: &random) ? "smart" : "\(part()),\(part())"
        let filter = ["nearest", "bilinear", "catmullRom", "lanczos3"].randomElement(using: &random) ?? "nearest"
        let color = ["red", "#20408060", "#0f0"].randomElement(using: &random) ?? "red"
        let steps = [
            "thumbnail(\(side())x\(side()),\(mode),anchor=\(anchor))", "thumbnail(\(side())x)",
            "resize(\(side())x\(side()),filter=\(filter))", "resize(x\(side()))", "downsample(\(side())x\(side()))",
            "crop(\(side())x\(side()),\(part()),\(part()))",
            "crop(\(side())x\(side()),\(Int.random(in: 0..<size.width, using: &random))px,0px)",
            "smartcrop(\(side())x\(side()))", "pad(\(side())x\(side()),\(color),\(part()),\(part()))",
            "trim(\(part()))", "round(\(side()),corners=tl+br)", "circle()",
            "border(\(number(0...5)),\(color),\(side()))",
            "rotate(\(number(-200...200)))", "rotate(90)", "flip(h)", "blur(\(number(0...5)))",
            "sharpen(\(number(0...5)),\(number(0...3)))", "overlay(\(color),\(part()))", "tint(\(color))",
            "colors(\(number(-0.3...0.3)),\(number(0.5...1.5)),\(number(0...2)),\(number(-1...1)))", "grayscale()",
            "bw()", "blend(multiply,\(part()),\(color))", "composite(sourceOver,\(part()),\(color))",
        ]
        let wanted = names.map { names in steps.filter { step in names.contains { step.hasPrefix($0) } } } ?? steps
        return wanted.randomElement(using: &random) ?? "flip(h)"
    }
}
