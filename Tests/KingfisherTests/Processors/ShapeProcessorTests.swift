// Processors that crop, resize, rotate and frame: their identifiers, and their results for any input.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

private let half = CGPoint(x: 0.5, y: 0.5)

/// One processor of each kind, with parameters that make sense for images of all sizes.
private let everyProcessor: [any ImageProcessor] = [
    BlendImageProcessor(blendMode: .softLight, alpha: 0.8, backgroundColor: .orange),
    CompositingImageProcessor(compositingOperation: .sourceAtop, alpha: 0.8, backgroundColor: .orange),
    OverlayImageProcessor(overlay: .purple, fraction: 0.3),
    RoundCornerImageProcessor(radius: .widthFraction(0.2), roundingCorners: [.topLeft, .bottomRight]),
    RoundCornerImageProcessor(cornerRadius: 3, backgroundColor: .red, border: Border(lineWidth: 1)),
    BorderImageProcessor(border: Border(color: .green, lineWidth: 1, radius: .heightFraction(0.3))),
    CircleImageProcessor(border: Border(color: .yellow, lineWidth: 1)),
    CroppingImageProcessor(size: CGSize(width: 5, height: 3), anchor: CGPoint(x: 0, y: 1)),
    RectCroppingImageProcessor(rect: CGRect(x: 1, y: 2, width: 3, height: 4)),
    SmartCroppingImageProcessor(size: CGSize(width: 4, height: 4)),
    TrimmingImageProcessor(tolerance: 0.1),
    CanvasResizingImageProcessor(size: CGSize(width: 9, height: 7), scaleMode: .aspectFit),
    CanvasResizingImageProcessor(size: CGSize(width: 9, height: 7), scaleMode: .aspectFill),
    RotationImageProcessor(angle: 0.4),
    RotationImageProcessor(angle: -.pi / 2, fitSize: false),
    FlippingImageProcessor(horizontal: true, vertical: false),
    SharpeningImageProcessor(sigma: 1, amount: 1.5),
    AnyImageProcessor(id: "flip") { $0.kf.flipped(horizontal: false, vertical: true) },
    CompositionImageProcessor([CircleImageProcessor(), FlippingImageProcessor(horizontal: true, vertical: true)]),
]

@Suite struct ShapeProcessorTests {
    private let prefix = "com.onevcat.Kingfisher."
    private let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])

    @Test("Identifiers contain every parameter") func identifiers() {
        let size = CGSize(width: 100, height: 50.5)
        let border = Border(color: .red, lineWidth: 2, radius: .widthFraction(0.5), roundingCorners: [.topLeft])
        let table: [(any ImageProcessor, String)] = [
            (BorderImageProcessor(border: Border()), "BorderImageProcessor((0.00,0.00,0.00,1.00)_4.0_0.0_)"),
            (
                BorderImageProcessor(border: border),
                "BorderImageProcessor((1.00,0.00,0.00,1.00)_2.0_w_frac_0.5__corner(1))"
            ),
            (CroppingImageProcessor(size: size), "CroppingImageProcessor((100.0, 50.5)_(0.5, 0.5))"),
            (
                CroppingImageProcessor(size: size, anchor: CGPoint(x: 0, y: 1)),
                "CroppingImageProcessor((100.0, 50.5)_(0.0, 1.0))"
            ),
            (
                RectCroppingImageProcessor(rect: CGRect(x: 1, y: 2, width: 3, height: 4)),
                "RectCroppingImageProcessor((1.0, 2.0)_(3.0, 4.0))"
            ),
            (SmartCroppingImageProcessor(size: size), "SmartCroppingImageProcessor((100.0, 50.5))"),
            (TrimmingImageProcessor(), "TrimmingImageProcessor(0.04)"),
            (CanvasResizingImageProcessor(size: size), "CanvasResizingImageProcessor((100.0, 50.5))"),
            (
                CanvasResizingImageProcessor(size: size, scaleMode: .aspectFit),
                "CanvasResizingImageProcessor((100.0, 50.5), aspectFit)"
            ),
            (
                CanvasResizingImageProcessor(size: size, scaleMode: .aspectFill),
                "CanvasResizingImageProcessor((100.0, 50.5), aspectFill)"
            ),
            (RotationImageProcessor(angle: 0.5), "RotationImageProcessor(0.5_true)"),
            (FlippingImageProcessor(horizontal: true, vertical: false), "FlippingImageProcessor(true_false)"),
            (SharpeningImageProcessor(sigma: 2), "SharpeningImageProcessor(2.0_1.0)"),
            (CircleImageProcessor(), "CircleImageProcessor"),
            (CircleImageProcessor(border: border), "CircleImageProcessor((1.00,0.00,0.00,1.00)_2.0)"),
            (
                RoundCornerImageProcessor(cornerRadius: 5, backgroundColor: .red, border: border),
                "RoundCornerImageProcessor(5.0)_(1.00,0.00,0.00,1.00)_border((1.00,0.00,0.00,1.00)_2.0)"
            ),
        ]
        for (processor, identifier) in table { #expect(processor.identifier == prefix + identifier) }
        #expect(AnyImageProcessor(id: "org.example.mine") { $0 }.identifier == "org.example.mine")
        #expect(Set(everyProcessor.map(\.identifier)).count == everyProcessor.count)
    }

    @Test("Borders have Kingfisher's defaults") func borderDefaults() {
        let border = Border()
        #expect(border.color == .black && border.lineWidth == 4 && border.radius == .point(0))
        #expect(border.roundingCorners == .all)
    }

    @Test("The options' scale converts points to pixels") func pixelsPerPoint() throws {
        let image = SampleImage.gradient(40, 20)
        let crop = CroppingImageProcessor(size: CGSize(width: 10, height: 5))
        let part = try #require(crop.process(item: .image(image), options: options))
        #expect(part.pixelWidth == 20 && part.pixelHeight == 10 && part.scale == 2)
        #expect(part.size == CGSize(width: 10, height: 5))
        // The width of a border is in points as well.
        let border = BorderImageProcessor(border: Border(color: .red, lineWidth: 2))
        let framed = try #require(border.process(item: .image(image), options: options))
        #expect(framed.kf.color(at: CGPoint(x: 10, y: 1.75)) == .red)
        #expect(framed.kf.color(at: CGPoint(x: 10, y: 2)) != .red)
        // Rounding corners takes the size after rescaling and does not enlarge the image.
        let rounded = try #require(
            RoundCornerImageProcessor(cornerRadius: 2).process(item: .image(image), options: options)
        )
        #expect(rounded.pixelWidth == 40 && rounded.scale == 2)
    }

    @Test("Two crops in a chain give the same image as one crop") func nestedCrops() throws {
        let image = SampleImage.gradient(64, 48)
        let corner = CGPoint(x: 0, y: 0)
        let both =
            CroppingImageProcessor(size: CGSize(width: 40, height: 30), anchor: corner)
            |> CroppingImageProcessor(size: CGSize(width: 20, height: 10), anchor: corner)
        let once = CroppingImageProcessor(size: CGSize(width: 20, height: 10), anchor: corner)
        let plain = KingfisherParsedOptionsInfo()
        let one = try #require(both.process(item: .image(image), options: plain))
        #expect(isSame(one, try #require(once.process(item: .image(image), options: plain))))
        #expect(isSame(image.kf.crop(to: CGSize(width: 20, height: 10), anchorOn: corner), one))
        let middle = image.kf.crop(to: CGSize(width: 21, height: 48), anchorOn: half)
        #expect(middle.pixelWidth == 22)  // 21.5…42.5, grown to whole pixels
    }

    @Test("Closures and lists work as processors") func closuresAndLists() throws {
        let plain = KingfisherParsedOptionsInfo()
        let failing = AnyImageProcessor(id: "failing") { _ in nil }
        let counting = CountingProcessor("counting")
        let data = ImageProcessItem.data(try SampleImage.png(8, 6))
        #expect(AnyImageProcessor(id: "same") { $0 }.process(item: data, options: plain)?.pixelWidth == 8)
        #expect(failing.process(item: data, options: plain) == nil)
        let list = CompositionImageProcessor([counting, failing, counting])
        #expect(list.identifier == "counting|>failing|>counting" && list.processors.count == 3)
        #expect(list.process(item: data, options: plain) == nil && counting.runs.value == 1)
        let empty = CompositionImageProcessor([])
        #expect(empty.identifier.isEmpty && empty.process(item: data, options: plain)?.pixelHeight == 6)
    }

    @Test("Every processor returns empty images unchanged and nil for undecodable data") func emptyAndBadInput() {
        let plain = KingfisherParsedOptionsInfo(), empty = Image()
        for processor in everyProcessor {
            #expect(processor.process(item: .image(empty), options: plain) === empty)
            #expect(processor.process(item: .data(Data("hello".utf8)), options: plain) == nil)
        }
    }

    @Test("The builder appends the processors") func builder() {
        let builder = KF.url(URL(string: "https://example.com/a.png")).border(Border()).circle()
            .cropping(size: CGSize(width: 3, height: 3)).cropping(rect: CGRect(x: 0, y: 0, width: 2, height: 2))
            .smartCropping(size: CGSize(width: 3, height: 3)).trimming().canvas(size: CGSize(width: 3, height: 3))
            .rotation(angle: 1).flipping(horizontal: true, vertical: true).sharpening(sigma: 1)
        let size = CGSize(width: 3, height: 3)
        let expected: [any ImageProcessor] = [
            BorderImageProcessor(border: Border()), CircleImageProcessor(), CroppingImageProcessor(size: size),
            RectCroppingImageProcessor(rect: CGRect(x: 0, y: 0, width: 2, height: 2)),
            SmartCroppingImageProcessor(size: size), TrimmingImageProcessor(), CanvasResizingImageProcessor(size: size),
            RotationImageProcessor(angle: 1), FlippingImageProcessor(horizontal: true, vertical: true),
            SharpeningImageProcessor(sigma: 1),
        ]
        #expect(builder.options.processor.identifier == CompositionImageProcessor(expected).identifier)
    }

    @Test("The namespace gives the pixels of the processors") func namespace() throws {
        let image = SampleImage.gradient(30, 20, alpha: true).withScale(2)
        let border = Border(color: .red, lineWidth: 1)
        let size = CGSize(width: 6, height: 5), rect = CGRect(x: 1, y: 1, width: 5, height: 4)
        let pairs: [(any ImageProcessor, Image)] = [
            (BorderImageProcessor(border: border), image.kf.addingBorder(border)),
            (CircleImageProcessor(border: border), image.kf.circle(border: border)),
            (CroppingImageProcessor(size: size, anchor: .zero), image.kf.crop(to: size, anchorOn: .zero)),
            (RectCroppingImageProcessor(rect: rect), image.kf.crop(to: rect)),
            (SmartCroppingImageProcessor(size: size), image.kf.smartCrop(to: size)),
            (TrimmingImageProcessor(tolerance: 0.2), image.kf.trimmed(tolerance: 0.2)),
            (
                CanvasResizingImageProcessor(size: size, scaleMode: .aspectFit),
                image.kf.placed(onCanvas: size, scaleMode: .aspectFit)
            ),
            (RotationImageProcessor(angle: 1, fitSize: false), image.kf.rotated(by: 1, fitSize: false)),
            (
                FlippingImageProcessor(horizontal: true, vertical: true),
                image.kf.flipped(horizontal: true, vertical: true)
            ),
            (SharpeningImageProcessor(sigma: 1), image.kf.sharpened(sigma: 2)),
        ]
        for (processor, expected) in pairs {
            let result = try #require(processor.process(item: .image(image), options: options))
            #expect(isSame(result, expected) && !isSame(result, image))
        }
    }

    @Test("The namespace offers colors and hashes") func colorsAndHashes() throws {
        let image = SampleImage.gradient(32, 24)
        #expect(image.kf.averageColor != nil && image.kf.dominantColor != nil)
        #expect(image.kf.color(at: CGPoint(x: 40, y: 0)) == nil)
        #expect(image.kf.colors(in: CGRect(x: 0, y: 0, width: 3, height: 2)).count == 6)
        let hash = try #require(image.kf.blurHash())
        #expect(hash.count == 28)
        #expect(image.kf.blurHash(components: (1, 10)) == nil)
        #expect(Image(blurHash: hash, size: CGSize(width: 8, height: 6))?.pixelWidth == 8)
        #expect(Image(thumbHash: try #require(image.kf.thumbHash()))?.pixelWidth == 32)
    }
}

@Suite struct EveryShapeProcessorTests {
    private static let executor = WorkExecutor("kf.shapes", threads: 1)

    /// An image stored in any orientation gives the same result as one stored upright.
    ///
    /// The images are opaque, translucent, grey, a single pixel, and of odd sizes, all with scale 2. The work runs on a
    /// thread of its own, because it takes long.
    @Test("Every processor respects orientation, scale and alpha", arguments: everyProcessor.indices)
    func orientationScaleAndAlpha(index: Int) async throws {
        let results = await Self.executor.run { Self.failures(about: everyProcessor[index]) }
        #expect(results == [])
    }

    private static func failures(about processor: any ImageProcessor) -> [String] {
        let options = KingfisherParsedOptionsInfo([.scaleFactor(2)])
        let grey = Image(
            cgImage: Bitmap(width: 13, height: 10) { memory, _ in
                memory.initializeMemory(as: UInt8.self, repeating: 255)
            }
        )
        let pictures: [(String, Image)] = [
            ("opaque", SampleImage.gradient(24, 16)), ("translucent", SampleImage.gradient(17, 23, alpha: true)),
            ("grey", grey),
            ("one pixel", SampleImage.gradient(1, 1)), ("odd", SampleImage.gradient(7, 5)),
            ("a row", SampleImage.gradient(9, 1)),
        ]
        // Images are resized before they are rotated, and rows are rounded in a different step than columns.
        let tolerance = processor is CanvasResizingImageProcessor ? 1 : 0
        var failures: [String] = []
        for (name, picture) in pictures {
            guard let upright = picture.cgImage,
                let expected = processor.process(item: .image(picture), options: options)
            else {
                failures.append("\(name): no result")
                continue
            }
            if !isValid(expected) { failures.append("\(name): a colour exceeds its alpha, or an alpha is hidden") }
            for orientation in Orientation.allCases {
                let inverse = orientation == .left ? Orientation.right : orientation == .right ? .left : orientation
                guard let stored = try? upright.oriented(from: inverse) else { continue }
                let turned = Image(cgImage: stored, scale: 1, orientation: orientation)
                let result = processor.process(item: .image(turned), options: options)
                let isRight = result.map {
                    isSame($0, expected, within: tolerance) && $0.imageOrientation == .up && $0.scale == 2
                }
                if isRight != true { failures.append("\(name), \(orientation)") }
            }
        }
        return failures
    }

    private static func isValid(_ image: Image) -> Bool {
        guard let bitmap = image.cgImage else { return false }
        return bitmap.withUnsafeBytes { bytes in
            (0..<bitmap.height).allSatisfy { y in
                (0..<bitmap.width).allSatisfy { x in
                    let pixel = bytes[(y * bitmap.bytesPerRow + x * 4)...].prefix(4)
                    guard let alpha = pixel.last else { return false }
                    return pixel.allSatisfy { $0 <= alpha } && (bitmap.hasAlpha || alpha == 255)
                }
            }
        }
    }

    /// Invalid numbers give the image itself, a part of it, or nil; never a trap.
    @Test("Invalid numbers never trap") func invalidNumbers() async {
        let numbers: [CGFloat] = [0, -1, .nan, .infinity, -.infinity, 1e300, -1e300, 1e-300, 32_768]
        let processors = numbers.flatMap { Self.processors(with: $0) }
        let strange = await Self.executor.run {
            processors.compactMap { processor -> String? in
                for picture in [SampleImage.gradient(6, 5, alpha: true), SampleImage.gradient(1, 1)] {
                    let result = processor.process(item: .image(picture), options: KingfisherParsedOptionsInfo())
                    if let result, result.cgImage == nil { return processor.identifier }
                }
                return nil
            }
        }
        #expect(strange == [])
    }

    private static func processors(with n: CGFloat) -> [any ImageProcessor] {
        let size = CGSize(width: n, height: n), mixed = CGSize(width: 3, height: n), point = CGPoint(x: n, y: n)
        let color = KFCrossPlatformColor(red: n, green: n, blue: 0, alpha: n)
        let border = Border(color: color, lineWidth: n, radius: .widthFraction(n))
        return [
            BlendImageProcessor(blendMode: .multiply, alpha: n, backgroundColor: color),
            CompositingImageProcessor(compositingOperation: .plusDarker, alpha: n, backgroundColor: color),
            OverlayImageProcessor(overlay: color, fraction: n), OverlayImageProcessor(overlay: .red, fraction: n),
            RoundCornerImageProcessor(cornerRadius: n, backgroundColor: color, border: border),
            RoundCornerImageProcessor(radius: .heightFraction(n), targetSize: mixed),
            BorderImageProcessor(border: border), BorderImageProcessor(border: Border(lineWidth: 1, radius: .point(n))),
            CircleImageProcessor(border: border), CroppingImageProcessor(size: size, anchor: point),
            CroppingImageProcessor(size: CGSize(width: 3, height: 3), anchor: point),
            RectCroppingImageProcessor(rect: CGRect(origin: point, size: size)),
            RectCroppingImageProcessor(rect: CGRect(origin: .zero, size: mixed)),
            SmartCroppingImageProcessor(size: size), SmartCroppingImageProcessor(size: mixed),
            TrimmingImageProcessor(tolerance: n), CanvasResizingImageProcessor(size: mixed, scaleMode: .aspectFit),
            CanvasResizingImageProcessor(size: size, scaleMode: .aspectFill), RotationImageProcessor(angle: n),
            RotationImageProcessor(angle: n, fitSize: false), SharpeningImageProcessor(sigma: n, amount: 1),
            SharpeningImageProcessor(sigma: 1, amount: n),
        ]
    }
}
