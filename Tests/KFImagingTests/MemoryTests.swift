// Failed allocations: each causes an error or nil, and never ends the process.

import Foundation
import KFImaging
import KFSupport
import Testing

/// Repeats the work, refusing its first allocation, then its second, until no allocation is refused.
///
/// Returns the result of every run in which an allocation was refused.
private func refusingEachAllocation<Result>(_ work: () throws -> Result) -> [Swift.Result<Result, any Error>] {
    var results: [Swift.Result<Result, any Error>] = []
    while results.count < 50 {
        let refused = results.count
        let requests = Locked(0)
        let permits: @Sendable (Int) -> Bool = { _ in
            requests.withLock { requests in
                requests += 1
                return requests - 1 != refused
            }
        }
        let result = AllocationPolicy.$permits.withValue(permits) { Swift.Result { try work() } }
        guard requests.withLock({ $0 }) > refused else { return results }
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
    @Test(
        "Decoding without memory is an error",
        arguments: [
            "photo.jpg", "progressive.jpg", "cmyk.jpg", "orientation-6.jpg", "photo.png", "interlaced.png", "alpha.png",
            "plain.gif", "photo.webp", "animated.webp", "rotated.avif", "mirrored.avif",
        ]
    )
    func decoding(name: String) throws {
        let data = try fixture(name)
        for limit in [nil, 10] {
            let results = refusingEachAllocation {
                try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit))
            }
            // The bitmap alone; or the tables of both axes, three buffers of the resampler and one for rows.
            #expect(results.count >= (limit == nil || name.hasSuffix("webp") ? 1 : 6))
            #expect(results.allSatisfy(isOutOfMemory))
        }
    }

    @Test("Encoding without memory is an error", arguments: [ImageContentType.jpeg, .png, .gif, .webp, .avif])
    func encoding(type: ImageContentType) throws {
        let turned = Image(cgImage: try picture("alpha.png").bitmap(), scale: 1, orientation: .left)
        let results = refusingEachAllocation { try Codecs.encode(turned, as: type) }
        // The rotated image and rows in another form; for a GIF also its buffers.
        #expect(results.count == (type == .gif ? 5 : 2))
        #expect(results.allSatisfy(isOutOfMemory))
    }

    @Test("Resizing and cropping without memory return nil") func operations() throws {
        let image = try picture("orientation-6.jpg")
        let size = CGSize(width: 30, height: 20)
        let operations: [(allocations: Int, work: () -> Image?)] = [
            (10, { image.resized(toPoints: size) }),
            (10, { image.downsampled(toMaxPixelSize: 20, scale: 1) }),
            (13, { image.roundingCorners(radius: .point(4), targetSize: size) }),
            (2, { image.cropped(toPoints: size, anchor: .zero) }),
        ]
        for (allocations, work) in operations {
            let results = refusingEachAllocation(work)
            #expect(results.count == allocations)
            #expect(try results.allSatisfy { try $0.get() == nil })
            #expect(work() != nil)
        }
    }

    @Test("Drawing without memory returns nil") func drawing() throws {
        let image = try picture("orientation-6.jpg")
        let size = CGSize(width: 30, height: 20)
        // All rotate the image first; then they take memory for the result, and some for temporary buffers.
        let operations: [(allocations: Int, work: () -> Image?)] = [
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
        for (allocations, work) in operations {
            let results = refusingEachAllocation(work)
            #expect(results.count == allocations)
            #expect(try results.allSatisfy { try $0.get() == nil })
            #expect(work() != nil)
        }
        let blur = refusingEachAllocation { image.blurHash(components: (x: 4, y: 3)) }
        let thumb = refusingEachAllocation { image.thumbHash() }
        let dominant = refusingEachAllocation { image.dominantColor }
        #expect(blur.count == 1 && thumb.count == 1 && dominant.count == 1)
        #expect(try blur[0].get() == nil && thumb[0].get() == nil && dominant[0].get() == nil)
    }

    @Test("Without memory a normalized image is the image itself") func normalization() throws {
        let image = try picture("orientation-6.jpg")
        let results = refusingEachAllocation { image.normalized }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() === image })
    }

    @Test("Cropping a bitmap without memory returns nil") func bitmapCrops() throws {
        let bitmap = try picture("photo.png").bitmap()
        let results = refusingEachAllocation { bitmap.cropping(to: CGRect(x: 1, y: 1, width: 9, height: 9)) }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() == nil })
    }

    @Test("An image created without memory is nil") func imageInitializer() throws {
        let data = try fixture("photo.jpg")
        let results = refusingEachAllocation { Image(data: data) }
        #expect(results.count == 1)
        #expect(try results.allSatisfy { try $0.get() == nil })
    }

    @Test("Bitmaps larger than any address space are errors") func impossibleBitmaps() throws {
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

    @Test("The error describes how much memory was missing") func errorDescription() {
        #expect(ImagingError.outOfMemory(bytes: 4096).description.contains("4096 bytes"))
        #expect(ImagingError.outOfMemory(bytes: nil).description == "there is not enough memory for the image")
    }
}
