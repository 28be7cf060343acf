// A lack of memory: an error or nil, never the end of the process.

import Foundation
import KFImaging
import Testing

/// Leaves this process so many bytes of address space: for the process of an exit test.
func limitMemory(leaving bytes: rlim_t) throws {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").first
    let all = try #require(pages.flatMap { rlim_t($0) }) * rlim_t(sysconf(Int32(_SC_PAGESIZE))) + bytes
    var limit = rlimit(rlim_cur: all, rlim_max: all)
    try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
}

/// Leaves this process no block of memory of 16 MiB or more.
func limitMemory() throws {
    try limitMemory(leaving: 24 << 20)
    // The allocator has reserved address space before, which it uses when the system gives it no more.
    var taken: [UnsafeMutableRawPointer] = []
    while let block = malloc(16 << 20) { taken.append(block) }
}

/// The most memory this process has had, in bytes.
func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM") })
    return try #require(Int(line.filter(\.isNumber))) * 1024
}

/// The thread sanitizer takes memory of its own for each block, and ends a process that it cannot give memory to.
let memoryIsOurs = {
    #if KF_TSAN
    false
    #else
    true
    #endif
}()

extension Image {
    /// An image whose pixels take more memory than ``limitMemory()`` leaves.
    fileprivate static func large(_ orientation: Orientation = .up) throws -> Image {
        let bitmap = try Bitmap.make(width: 3_000, height: 3_000, hasAlpha: false) { memory, _ in
            memory.initializeMemory(as: UInt8.self, repeating: 255)
        }
        return Image(cgImage: bitmap, scale: 1, orientation: orientation)
    }
}

private let types = [ImageContentType.jpeg, .png, .gif, .webp, .avif]

private func isOutOfMemory(_ error: any Error) -> Bool {
    if case ImagingError.outOfMemory(bytes: let bytes?)? = error as? ImagingError { bytes > 0 } else { false }
}

@Suite struct MemoryTests {
    @Test("Decoding without memory is an error", .enabled(if: memoryIsOurs)) func decoding() async {
        await #expect(processExitsWith: .success) {
            // Of a progressive JPEG the coefficients would be what there is no memory for.
            var options = ImageEncodingOptions()
            options.encoder.isProgressive = false
            let files = try types.map { [options] in ($0, try Codecs.encode(.large(), as: $0, options)) }
            try limitMemory()
            for (type, data) in files {
                for limit in [nil, 2_900] {
                    let error = #expect(throws: (any Error).self) {
                        try Codecs.decode(data, options: DecodingOptions(maxPixelSize: limit))
                    }
                    #expect(error.map(isOutOfMemory) == true, "\(type.name)")
                }
                #expect(Image(data: data) == nil, "\(type.name)")
            }
        }
    }

    @Test("Encoding without memory is an error", .enabled(if: memoryIsOurs)) func encoding() async {
        await #expect(processExitsWith: .success) {
            let turned = try Image.large(.left)
            try limitMemory()
            for type in types {
                let error = #expect(throws: (any Error).self) { try Codecs.encode(turned, as: type) }
                #expect(error.map(isOutOfMemory) == true, "\(type.name)")
            }
        }
    }

    @Test("Operations without memory return nil", .enabled(if: memoryIsOurs)) func operations() async {
        await #expect(processExitsWith: .success) {
            let size = CGSize(width: 2_900, height: 2_900)
            let operations: [(name: String, work: (Image) -> Image?)] = [
                ("resized", { $0.resized(toPoints: size) }),
                ("downsampled", { $0.downsampled(toMaxPixelSize: 2_900, scale: 1) }),
                ("corners", { $0.roundingCorners(radius: .point(4), targetSize: size) }),
                ("cropped", { $0.cropped(toPoints: size, anchor: .zero) }),
                ("cropped to a rectangle", { $0.cropped(toPoints: CGRect(origin: .zero, size: size)) }),
                ("cropped smartly", { $0.smartCropped(toPoints: size) }),
                ("blended", { $0.blended(.multiply, alpha: 0.5, background: .red) }),
                ("bordered", { $0.bordered(Border()) }),
                ("circled", { $0.circled(border: nil) }),
                ("overlaid", { $0.overlaid(.red, fraction: 0.5) }),
                ("rotated", { $0.rotated(by: 1, fits: true) }),
                ("turned", { $0.rotated(by: .pi / 2, fits: false) }),
                ("flipped", { $0.flipped(horizontally: true, vertically: false) }),
                ("sharpened", { $0.sharpened(sigma: 1, amount: 1) }),
                ("blurred", { $0.blurred(radius: 3) }),
                ("tinted", { $0.tinted(with: .red, in: .linear) }),
            ]
            // Of those that are not upright the pixels are turned first.
            let images = [try Image.large(), try Image.large(.left)]
            try limitMemory()
            for (name, work) in operations {
                for (index, image) in images.enumerated() { #expect(work(image) == nil, "\(name), \(index)") }
            }
        }
    }

    @Test("Without memory a normalized image is the image itself", .enabled(if: memoryIsOurs))
    func normalization() async {
        await #expect(processExitsWith: .success) {
            let turned = try Image.large(.left)
            try limitMemory()
            #expect(turned.normalized === turned)
        }
    }

    @Test("Hashing, and cropping a bitmap, without memory return nil", .enabled(if: memoryIsOurs))
    func hashes() async {
        await #expect(processExitsWith: .success) {
            let turned = try Image.large(.left)
            let bitmap = try turned.bitmap()
            try limitMemory()
            #expect(bitmap.cropping(to: CGRect(x: 1, y: 1, width: 2_900, height: 2_900)) == nil, "crop")
            #expect(turned.blurHash(components: (x: 4, y: 3)) == nil, "BlurHash")
            #expect(turned.thumbHash() == nil, "ThumbHash")
            // It is found in a small copy.
            #expect(turned.dominantColor != nil, "colour")
        }
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
