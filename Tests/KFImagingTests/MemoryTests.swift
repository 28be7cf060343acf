// Memory that cannot be had: an error or nil, never the end of the process.

import Foundation
import KFImaging
import KFSupport
import Testing

/// Does the work again and again, refusing it the first piece of memory, then the second, until it gets all it asks for.
///
/// Answers what came of it every time that something was refused.
private func refusingEachPiece<Result>(_ work: () throws -> Result) -> [Swift.Result<Result, any Error>] {
    var results: [Swift.Result<Result, any Error>] = []
    while results.count < 50 {
        let refused = results.count
        let asked = Locked(0)
        let permits: @Sendable (Int) -> Bool = { _ in
            asked.withLock { asked in
                asked += 1
                return asked - 1 != refused
            }
        }
        let result = AllocationPolicy.$permits.withValue(permits) { Swift.Result { try work() } }
        guard asked.withLock({ $0 }) > refused else { return results }
        results.append(result)
    }
    return results
}

private func isOutOfMemory(_ result: Result<some Any, any Error>) -> Bool {
    guard case .failure(let error) = result, case ImagingError.outOfMemory(bytes: let bytes?)? = error as? ImagingError
    else { return false }
    return bytes > 0
}

@Suite struct MemoryTests {
    @Test(arguments: [
        "photo.jpg", "progressive.jpg", "cmyk.jpg", "orientation-6.jpg", "photo.png", "interlaced.png", "alpha.png",
        "plain.gif", "photo.webp", "animated.webp", "rotated.avif", "mirrored.avif",
    ])
    func decodingWithoutMemoryIsAnError(name: String) throws {
        let data = try fixture(name)
        for limit in [nil, 10] {
            let results = refusingEachPiece {
                try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit))
            }
            // The bitmap alone; or the tables of both axes, three pieces of the resampler and what holds rows as well.
            #expect(results.count >= (limit == nil || name.hasSuffix("webp") ? 1 : 6))
            #expect(results.allSatisfy(isOutOfMemory))
        }
    }

    @Test(arguments: [ImageContentType.jpeg, .png, .gif, .webp, .avif])
    func encodingWithoutMemoryIsAnError(type: ImageContentType) throws {
        let turned = Image(cgImage: try picture("alpha.png").bitmap(), scale: 1, orientation: .left)
        let results = refusingEachPiece { try Codecs.encode(turned, as: type) }
        // The picture that is turned, rows in another form, and what a GIF is to show, shows, and says.
        #expect(results.count == (type == .gif ? 5 : 2))
        #expect(results.allSatisfy(isOutOfMemory))
    }

    @Test func operationsWithoutMemoryAreNil() throws {
        let image = try picture("orientation-6.jpg")
        let size = CGSize(width: 30, height: 20)
        let operations: [(pieces: Int, work: () -> Image?)] = [
            (10, { image.resized(toPoints: size) }),
            (10, { image.downsampled(toMaxPixelSize: 20, scale: 1) }),
            (13, { image.roundingCorners(radius: .point(4), targetSize: size) }),
            (2, { image.cropped(toPoints: size, anchor: .zero) }),
        ]
        for (pieces, work) in operations {
            let results = refusingEachPiece(work)
            #expect(results.count == pieces)
            #expect(try results.allSatisfy { try $0.get() == nil })
            #expect(work() != nil)
        }
    }

    @Test func drawingWithoutMemoryIsNil() throws {
        let image = try picture("orientation-6.jpg")
        let size = CGSize(width: 30, height: 20)
        // All turn the picture first; then they take memory for the result, and some for what they work with.
        let operations: [(pieces: Int, work: () -> Image?)] = [
            (3, { image.blended(.multiply, alpha: 0.5, background: .red) }),
            (4, { image.bordered(Border()) }),
            (5, { image.circled(border: nil) }),
            (2, { image.overlaid(.red, fraction: 0.5) }),
            (2, { image.rotated(by: 1, fits: true) }),
            (3, { image.rotated(by: .pi / 2, fits: false) }),
            (2, { image.flipped(horizontally: true, vertically: false) }),
            (2, { image.cropped(toPoints: CGRect(origin: .zero, size: size)) }),
            (5, { image.smartCropped(toPoints: size) }),
            (5, { image.sharpened(sigma: 1, amount: 1) }),
        ]
        for (pieces, work) in operations {
            let results = refusingEachPiece(work)
            #expect(results.count == pieces)
            #expect(try results.allSatisfy { try $0.get() == nil })
            #expect(work() != nil)
        }
        let blur = refusingEachPiece { image.blurHash(components: (x: 4, y: 3)) }
        let thumb = refusingEachPiece { image.thumbHash() }
        let dominant = refusingEachPiece { image.dominantColor }
        #expect(blur.count == 1 && thumb.count == 1 && dominant.count == 1)
        #expect(try blur[0].get() == nil && thumb[0].get() == nil && dominant[0].get() == nil)
    }

    @Test func whatCannotBeTurnedStaysAsItIs() throws {
        let image = try picture("orientation-6.jpg")
        let results = refusingEachPiece { image.normalized }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() === image })
    }

    @Test func cropsWithoutMemoryAreNil() throws {
        let bitmap = try picture("photo.png").bitmap()
        let results = refusingEachPiece { bitmap.cropping(to: CGRect(x: 1, y: 1, width: 9, height: 9)) }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() == nil })
    }

    @Test func imagesWithoutMemoryAreNil() throws {
        let data = try fixture("photo.jpg")
        let results = refusingEachPiece { Image(data: data) }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() == nil })
    }

    @Test func bitmapsThatNoMachineHoldsAreErrors() throws {
        // More than any address space has; then more than can be counted.
        #expect(throws: ImagingError.outOfMemory(bytes: 1 << 62)) {
            try Bitmap.make(width: 1 << 40, height: 1 << 20) { _, _ in }
        }
        for (width, height) in [(Int.max, 1), (Int.max / 8, 3), (1 << 40, 1 << 40)] {
            #expect(throws: ImagingError.outOfMemory(bytes: nil)) {
                try Bitmap.make(width: width, height: height) { _, _ in }
            }
        }
        let small = try Bitmap.make(width: 3, height: 2) { bytes, _ in bytes[2] = 7 }
        #expect(small.width == 3 && small.height == 2 && small[0, 0] == Pixel(r: 7, g: 0, b: 0, a: 0))
    }

    @Test func theErrorSaysHowMuchWasMissing() {
        #expect(ImagingError.outOfMemory(bytes: 4096).description.contains("4096 bytes"))
        #expect(ImagingError.outOfMemory(bytes: nil).description == "there is not enough memory for the picture")
    }
}
