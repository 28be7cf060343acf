// Blending processors: their identifiers, and that they and `image.kf` give the pixels of KFImaging.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct BlendProcessorTests {
    private let prefix = "com.onevcat.Kingfisher."
    private let options = KingfisherParsedOptionsInfo()

    @Test("Identifiers contain the raw values that blend modes and operations have on Apple's platforms")
    func identifiers() {
        #expect(BlendImageProcessor(blendMode: .multiply).identifier == prefix + "BlendImageProcessor(1,1.0)")
        #expect(
            BlendImageProcessor(blendMode: .plusLighter, alpha: 0.5, backgroundColor: .red).identifier
                == prefix + "BlendImageProcessor(27,0.5)_(1.00,0.00,0.00,1.00)"
        )
        #expect(
            CompositingImageProcessor(compositingOperation: .sourceOver).identifier
                == prefix + "CompositingImageProcessor(2,1.0)"
        )
        #expect(
            CompositingImageProcessor(compositingOperation: .luminosity, alpha: 0.25, backgroundColor: .brown)
                .identifier
                == prefix + "CompositingImageProcessor(28,0.25)_(0.60,0.40,0.20,1.00)"
        )
        #expect(
            OverlayImageProcessor(overlay: .red).identifier == prefix
                + "OverlayImageProcessor((1.00,0.00,0.00,1.00)_0.5)"
        )
        let green = KFCrossPlatformColor(red: 0, green: 127.0 / 255, blue: 0)
        #expect(
            OverlayImageProcessor(overlay: green, fraction: 0.7).identifier
                == prefix + "OverlayImageProcessor((0.00,0.50,0.00,1.00)_0.0,\(127.0 / 255),0.0,1.0_0.7)"
        )
    }

    @Test("Processors and the namespace give the same pixels") func namespace() throws {
        let image = SampleImage.gradient(21, 13, alpha: true)
        let pairs: [(any ImageProcessor, Image)] = [
            (
                BlendImageProcessor(blendMode: .screen, alpha: 0.5, backgroundColor: .orange),
                image.kf.image(withBlendMode: .screen, alpha: 0.5, backgroundColor: .orange)
            ),
            (
                CompositingImageProcessor(compositingOperation: .xor, alpha: 0.5, backgroundColor: .orange),
                image.kf.image(withCompositingOperation: .xor, alpha: 0.5, backgroundColor: .orange)
            ),
            (
                OverlayImageProcessor(overlay: .purple, fraction: 0.25),
                image.kf.overlaying(with: .purple, fraction: 0.25)
            ),
        ]
        for (processor, expected) in pairs {
            let result = try #require(processor.process(item: .image(image), options: options))
            #expect(isSame(result, expected) && !isSame(result, image))
        }
    }

    @Test("Compositing operations give the pixels of their blend modes") func operations() throws {
        let image = SampleImage.gradient(9, 9, alpha: true)
        for operation in NSCompositingOperation.allCases {
            let one = image.kf.image(withCompositingOperation: operation, backgroundColor: .cyan)
            let two = image.kf.image(withBlendMode: operation.blendMode, backgroundColor: .cyan)
            #expect(isSame(one, two))
        }
    }

    @Test("The builder appends the processors") func builder() {
        let url = URL(string: "https://example.com/a.png")
        let builder = KF.url(url).blend(mode: .multiply, backgroundColor: .red).compositing(operation: .copy)
            .overlay(color: .blue)
        let expected =
            BlendImageProcessor(blendMode: .multiply, backgroundColor: .red)
            |> CompositingImageProcessor(compositingOperation: .copy) |> OverlayImageProcessor(overlay: .blue)
        #expect(builder.options.processor.identifier == expected.identifier)
    }
}

/// Whether two images have the same scale, orientation and pixels, or pixels that differ by no more than a tolerance.
func isSame(_ one: Image, _ other: Image, within tolerance: Int = 0) -> Bool {
    guard one.scale == other.scale, one.imageOrientation == other.imageOrientation, one.size == other.size else {
        return false
    }
    guard let a = one.cgImage, let b = other.cgImage else { return one.cgImage == other.cgImage }
    return a.withUnsafeBytes { x in
        b.withUnsafeBytes { y in zip(x, y).allSatisfy { abs(Int($0) - Int($1)) <= tolerance } }
    }
}
