// Every number that a processor takes, at its bounds and far beyond: there is an image or none, and no trap.

import Foundation
import KFImaging
import Testing

@testable import Kingfisher

@Suite struct ProcessorBoundsTests {
    private static let numbers: [Double] = [
        0, -0.0, -1, 1, 0.5, 2, 1e4, 1e9, 1e18, 1e19, -1e19, 1e308, -1e308, .leastNonzeroMagnitude, .nan, .infinity,
        -.infinity,
        Double(Int.max), Double(Int.min), Double(UInt.max), Double(Int32.max),
    ]

    private static let color = KFCrossPlatformColor(red: 1, green: 0.5, blue: 0)

    /// A processor of one number, by its name.
    private static let processors: KeyValuePairs<String, @Sendable (CGFloat) -> any ImageProcessor> = [
        "blur": { BlurImageProcessor(blurRadius: $0) },
        "rotation": { RotationImageProcessor(angle: $0) },
        "rotation within": { RotationImageProcessor(angle: $0, fitSize: false) },
        "sharpening": { SharpeningImageProcessor(sigma: $0) },
        "sharpening's amount": { SharpeningImageProcessor(sigma: 1, amount: $0) },
        "resizing": { ResizingImageProcessor(referenceSize: CGSize(width: $0, height: 3)) },
        "resizing to a square": { ResizingImageProcessor(referenceSize: CGSize(width: $0, height: $0)) },
        "resizing within": { ResizingImageProcessor(referenceSize: CGSize(width: 3, height: $0), mode: .aspectFit) },
        "resizing around": { ResizingImageProcessor(referenceSize: CGSize(width: 3, height: $0), mode: .aspectFill) },
        "downsampling": { DownsamplingImageProcessor(size: CGSize(width: $0, height: $0)) },
        "thumbnail": { ThumbnailImageProcessor(size: CGSize(width: $0, height: 3)) },
        "thumbnail that fills": { ThumbnailImageProcessor(size: CGSize(width: $0, height: $0), mode: .fill) },
        "thumbnail that is enlarged": { ThumbnailImageProcessor(size: CGSize(width: 3, height: $0), enlarges: true) },
        "thumbnail's anchor": {
            let anchor = ThumbnailAnchor.point(CGPoint(x: $0, y: $0))
            return ThumbnailImageProcessor(size: CGSize(width: 3, height: 5), mode: .fill, anchor: anchor)
        },
        "corners": { RoundCornerImageProcessor(cornerRadius: $0) },
        "corners in parts": { RoundCornerImageProcessor(radius: .widthFraction($0)) },
        "corners of a size": {
            RoundCornerImageProcessor(cornerRadius: 1, targetSize: CGSize(width: $0, height: 3))
        },
        "border": { BorderImageProcessor(border: Border(color: color, lineWidth: $0, radius: .point($0))) },
        "circle": { CircleImageProcessor(border: Border(color: color, lineWidth: $0)) },
        "blending": { BlendImageProcessor(blendMode: .multiply, alpha: $0, backgroundColor: color) },
        "composition": { CompositingImageProcessor(compositingOperation: .sourceOver, alpha: $0) },
        "overlay": { OverlayImageProcessor(overlay: color, fraction: $0) },
        "brightness": { ColorControlsProcessor(brightness: $0, contrast: 1, saturation: 1, inputEV: 0) },
        "contrast": { ColorControlsProcessor(brightness: 0, contrast: $0, saturation: $0, inputEV: 0) },
        "exposure": { ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 1, inputEV: $0) },
        "tint": { TintImageProcessor(tint: KFCrossPlatformColor(red: $0, green: $0, blue: $0, alpha: $0)) },
        "crop": { CroppingImageProcessor(size: CGSize(width: $0, height: 3)) },
        "crop's anchor": { CroppingImageProcessor(size: CGSize(width: 3, height: 3), anchor: CGPoint(x: $0, y: $0)) },
        "rectangle": { RectCroppingImageProcessor(rect: CGRect(x: $0, y: $0, width: 5, height: 5)) },
        "rectangle's size": { RectCroppingImageProcessor(rect: CGRect(x: 1, y: 1, width: $0, height: $0)) },
        "smart crop": { SmartCroppingImageProcessor(size: CGSize(width: $0, height: 3)) },
        "trimming": { TrimmingImageProcessor(tolerance: $0) },
        "canvas": { CanvasResizingImageProcessor(size: CGSize(width: $0, height: 3)) },
        "canvas' anchor": {
            CanvasResizingImageProcessor(
                size: CGSize(width: 20, height: 20),
                scaleMode: .aspectFit,
                anchor: CGPoint(x: $0, y: $0)
            )
        },
    ]

    @Test("A number of any size gives an image or none", arguments: processors.map(\.key))
    func numbers(name: String) throws {
        let make = try #require(Self.processors.first { $0.key == name }?.value)
        let image = SampleImage.gradient(16, 12)
        let data = try #require(image.pngData())
        for number in Self.numbers {
            for scale in [1, 3, CGFloat(number)] {
                let options = KingfisherParsedOptionsInfo([.scaleFactor(scale)])
                let processor = make(CGFloat(number))
                for item in [ImageProcessItem.image(image), .data(data)] {
                    let result = processor.process(item: item, options: options)
                    #expect(result.map { $0.pixelWidth < 100_000 && $0.pixelHeight < 100_000 } ?? true, "\(number)")
                }
            }
        }
    }

    @Test("So do the numbers of colours, hashes and parts") func parts() {
        let image = SampleImage.gradient(16, 12)
        for number in Self.numbers {
            let point = CGPoint(x: number, y: number)
            _ = image.kf.color(at: point)
            _ = image.kf.colors(in: CGRect(origin: point, size: CGSize(width: number, height: number)))
            _ = image.kf.scaled(to: number)
            let size = CGSize(width: number, height: 1)
            _ = size.kf.constrainedRect(for: CGSize(width: 3, height: number), anchor: point)
            #expect(image.kf.jpegRepresentation(compressionQuality: number) != nil)
            #expect(image.kf.webPRepresentation(quality: number) != nil)
        }
        for count in [0, -1, 1, 9, 10, .max, .min] { _ = image.kf.blurHash(components: (count, count)) }
    }
}
