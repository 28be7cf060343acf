// The working memory of operations: some bitmaps, however wide or tall the image is.

import Foundation
import Testing

@testable import KFImaging

private typealias Operation = (name: String, work: (Image) -> Image?)

/// All operations but resizing, which has tests of its own, and filters, which take 16 bytes a pixel for every step.
private func operations(on size: PixelSize) -> [Operation] {
    let half = CGSize(width: max(1, size.width / 2), height: max(1, size.height / 2))
    let border = Border(color: .red, lineWidth: 1)
    return [
        ("downsampled", { $0.downsampled(toMaxPixelSize: 300, scale: 1) }),
        ("placed", { $0.placed(onPoints: $0.size, mode: .aspectFit) }),
        ("cropped", { $0.cropped(toPoints: half, anchor: .zero) }),
        ("cropped smartly", { $0.smartCropped(toPoints: half) }),
        ("trimmed", { $0.trimmed(tolerance: 0) }),
        ("flipped", { $0.flipped(horizontally: true, vertically: true) }),
        ("turned", { $0.rotated(by: .pi / 2, fits: false) }),
        ("turned slightly", { $0.rotated(by: 1e-6, fits: false) }),
        ("upright", { $0.cgImage.map { Image(cgImage: $0, scale: 1, orientation: .left).normalized } }),
        ("corners", { $0.roundingCorners(radius: .point(0.25), background: .white, border: border) }),
        ("bordered", { $0.bordered(border) }),
        ("circled", { $0.circled(border: border) }),
        ("blended", { $0.blended(.multiply, alpha: 0.5, background: .white) }),
        ("blended darker", { $0.blended(.plusDarker, alpha: 0.5, background: .white) }),
        ("tinted in a mode", { $0.tinted(with: .red, .plusDarker) }),
        ("tinted", { $0.tinted(with: .red, in: .linear) }),
        ("overlaid", { $0.overlaid(.red, fraction: 0.5) }),
        ("overlaid with an image", { $0.overlaid(with: $0, anchor: .zero, opacity: 0.5) }),
        ("adjusted", { $0.adjusted(ColorAdjustment(brightness: 0.1, contrast: 1, saturation: 2, inputEV: 0)) }),
        ("blurred", { $0.blurred(radius: 5) }),
        ("blurred widely", { $0.blurred(radius: 400) }),
        ("sharpened", { $0.sharpened(sigma: 1, amount: 1) }),
        ("blurred by a cut Gaussian", { $0.cutGaussianBlurred(sigma: 3) }),
        ("sharpened in lightness", { $0.sharpenedInLightness(sigma: 3) }),
    ]
}

/// Does every operation; none may need more than `allowed` bytes, those of its image and its result included.
private func checkMemory(_ size: PixelSize, allowed: Int) throws {
    let before = try peakMemory()
    let bitmap = try Bitmap(size, hasAlpha: true) { rows in
        for y in 0..<size.height {
            let pixels = rows.pixels(y)
            for x in 0..<size.width { pixels[x] = 0x8000_0000 | UInt32((x + y) & 0x7F) }
        }
    }
    let image = Image(cgImage: bitmap)
    for (name, work) in operations(on: size) {
        #expect(work(image) != nil, "\(name)")
        let growth = try peakMemory() - before
        // The peak never falls: operations after this one could not be judged. Code that is loaded takes memory, too.
        try #require(growth <= allowed + (4 << 20), "\(name): \(growth) bytes")
    }
}

@Suite struct OperationMemoryTests {
    @Test("No operation on a row of half a million pixels takes the memory of eight", .enabled(if: memoryIsOurs))
    func rows() async {
        await #expect(processExitsWith: .success) {
            try checkMemory(PixelSize(500_000, 1), allowed: 8 * 500_000 * 4)
        }
    }

    @Test("No operation on a column of half a million pixels takes the memory of four", .enabled(if: memoryIsOurs))
    func columns() async {
        await #expect(processExitsWith: .success) {
            // Rows have 16 bytes at least.
            try checkMemory(PixelSize(1, 500_000), allowed: 4 * 500_000 * 16)
        }
    }

    @Test("An animation is written as GIF with less than 10 bytes a pixel beside its frame", .enabled(if: memoryIsOurs))
    func writingGIF() async {
        await #expect(processExitsWith: .success) {
            let size = PixelSize(2_000, 2_000)
            let frame = try Bitmap(size, hasAlpha: false) { $0.fill(with: 0xFF33_66CC) }
            let source = Frames(bitmaps: [frame, frame, frame], delays: [0.1, 0.1, 0.1])
            let before = try peakMemory()
            _ = try Codecs.encode(source, as: .gif)
            let growth = try peakMemory() - before
            #expect(growth < size.pixelCount * 10, "\(growth) bytes")
        }
    }

    @Test("What is worked with beside an image counts against the limit on pixels") func workingMemory() async {
        await #expect(processExitsWith: .success) {
            let bitmap = try Bitmap(PixelSize(40, 25), hasAlpha: false) { $0.fill(with: 0xFF33_66CC) }
            let image = Image(cgImage: bitmap)
            func filtered() -> FilterImage? { FilterImage(width: 40, height: 25) { _, _ in .one } }
            ImageDecodingLimits.default.maxPixelCount = 4 * 1_000
            #expect(filtered() != nil)
            ImageDecodingLimits.default.maxPixelCount = 4 * 1_000 - 1
            #expect(filtered() == nil)
            ImageDecodingLimits.default.maxPixelCount = 1_000
            #expect(try !Codecs.encode(image, as: .gif).isEmpty)
            ImageDecodingLimits.default.maxPixelCount = 999
            let error = ImagingError.limitExceeded(limit: "maxPixelCount", allowed: 999, width: 40, height: 25)
            #expect(throws: error) { try Codecs.encode(image, as: .gif) }
        }
    }
}
