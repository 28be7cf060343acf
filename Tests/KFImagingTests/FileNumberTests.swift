// Every number in the headers of small files, at its bounds and one beside it: an image or an error, no trap, and no
// more memory than the limits allow.

import Foundation
import KFImaging
import Testing

/// A file, and which part of it is overwritten.
private struct NumberedFile {
    let data: [UInt8]
    var places: Range<Int>
    /// The order of the bytes of its numbers.
    var isBigEndian = true
    /// The sizes in bytes of its numbers.
    var widths = [1, 2, 4]
    /// The names and contents of chunks that have checksums.
    private var checked: [Range<Int>] = []

    init(_ data: Data, _ places: Range<Int>? = nil, isBigEndian: Bool = true, widths: [Int] = [1, 2, 4]) {
        (self.data, self.isBigEndian, self.widths) = (Array(data), isBigEndian, widths)
        self.places = places.map { $0.clamped(to: 0..<data.count) } ?? 0..<data.count
        guard ImageContentType(sniffing: data) == .png else { return }
        var start = 8
        for chunk in PNGChunkList(data).chunks {
            checked.append(start + 4..<start + 8 + chunk.content.count)
            start += 12 + chunk.content.count
        }
    }

    /// The file with each number in turn replaced by others.
    func forEachChange(_ body: (Data, _ what: () -> String) -> Void) {
        for width in widths {
            for place in places where place + width <= data.count {
                let here = place..<place + width
                for bytes in values(insteadOf: Array(data[here])) {
                    var copy = data
                    copy.replaceSubrange(here, with: bytes)
                    repairChecksums(of: &copy, around: here)
                    body(Data(copy)) { "\(bytes) at \(place)" }
                }
            }
        }
    }

    /// None, one, the largest and the smallest of either kind, and those beside the number itself.
    private func values(insteadOf bytes: [UInt8]) -> Set<[UInt8]> {
        let bits = UInt64(8 * bytes.count)
        let ordered = isBigEndian ? bytes : bytes.reversed()
        let number: UInt64 = ordered.reduce(0) { $0 << 8 | UInt64($1) }
        let half: UInt64 = 1 << (bits - 1)
        let values: [UInt64] = [0, 1, half - 1, half, 2 * half - 1, number &+ 1, number &- 1]
        var results: Set<[UInt8]> = []
        for value in values {
            let bytes = bytes.indices.map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
            results.insert(isBigEndian ? bytes.reversed() : bytes)
        }
        results.remove(bytes)
        return results
    }

    private func repairChecksums(of bytes: inout [UInt8], around changed: Range<Int>) {
        for range in checked where range.overlaps(changed) {
            let name = String(decoding: bytes[range.prefix(4)], as: UTF8.self)
            guard name.utf8.count == 4 else { continue }
            let sum = PNGWriter.chunk(name, Array(bytes[range.dropFirst(4)])).suffix(4)
            bytes.replaceSubrange(range.upperBound..<range.upperBound + 4, with: sum)
        }
    }
}

/// Small, so that what takes more memory than images may shows.
private let limits: ImageDecodingLimits = {
    var limits = ImageDecodingLimits(maxPixelCount: 1 << 16, maxScanCount: 20, maxCoefficientBytes: 1 << 22)
    (limits.maxFrameCount, limits.maxFramePixelCount, limits.maxAnimationPixelCount) = (100, 1 << 16, 1 << 20)
    limits.isolation = .inProcess
    return limits
}()

/// Reads a file in every way, and returns the errors.
private func read(_ data: Data) -> [any Error] {
    var errors: [any Error] = []
    func attempt<Value>(_ body: () throws -> Value) -> Value? {
        do { return try body() } catch {
            errors.append(error)
            return nil
        }
    }
    _ = attempt { try ImageInfo(data: data) }
    for side in [nil, 5] {
        let bitmap = attempt { try Codecs.decode(data, options: DecodingOptions(maxPixelSize: side, limits: limits)) }?
            .cgImage
        #expect(bitmap.map { $0.width * $0.height <= limits.maxPixelCount } ?? true)
    }
    guard let source = attempt({ try Codecs.frameSource(of: data, limits: limits) }) ?? nil else { return errors }
    #expect((1...limits.maxFrameCount).contains(source.frameCount))
    for index in Set([0, 1, source.frameCount - 1]) {
        #expect(source.duration(at: index).isFinite && source.duration(at: index) >= 0)
        let frame = source.frame(at: index)
        #expect(frame.map { $0.width * $0.height <= limits.maxPixelCount } ?? true)
    }
    return errors
}

@Suite struct FileNumberTests {
    private static let files: KeyValuePairs<String, @Sendable () throws -> NumberedFile> = [
        "png": { NumberedFile(try Codecs.encode(Image(cgImage: .solid(0x8040_2010, 9, 7)), as: .png)) },
        "png with a palette": { NumberedFile(try fixture("palette-transparent.png"), 0..<400) },
        "png with a profile and EXIF": { NumberedFile(try fixture("orientation-6.png"), 0..<400) },
        "animated png": { NumberedFile(try fixture("apng-no.png")) },
        "jpeg with EXIF and a thumbnail": { NumberedFile(try fixture("thumbnail.jpg"), 0..<400) },
        "jpeg with a profile": { NumberedFile(try fixture("srgb-profile.jpg"), 0..<250) },
        "jpeg's tables": {
            let data = try fixture("one-pixel.jpg")
            return NumberedFile(data, max(0, data.count - 700)..<data.count)
        },
        "gif": { NumberedFile(try fixture("animated.gif"), isBigEndian: false) },
        "webp": { NumberedFile(try fixture("alpha.webp"), 0..<120, isBigEndian: false) },
        "webp with EXIF": { NumberedFile(try fixture("orientation-6.webp"), 0..<60, isBigEndian: false) },
        "animated webp": { NumberedFile(try fixture("animated.webp"), 0..<200, isBigEndian: false) },
        "avif": { NumberedFile(try fixture("alpha.avif"), 0..<440, widths: [1, 4]) },
        "avif of tiles": { NumberedFile(try fixture("grid.avif"), 0..<440, widths: [1, 4]) },
        "animated avif": { NumberedFile(try fixture("sequence-alpha.avif"), 441..<1732, widths: [4]) },
        "tiff": { try listed("grey8", in: "tiff-kinds.txt", isBigEndian: false) },
        "tiff with a palette": { try listed("palette4", in: "tiff-kinds.txt", isBigEndian: false) },
        "tiff of planes": { try listed("rgb8-pseparate-r2", in: "tiff-kinds.txt", isBigEndian: false) },
        "tiff of tiles": { try listed("rgb8-t-clzw", in: "tiff-kinds.txt", isBigEndian: false) },
        "big-endian tiff": { try listed("rgb8-B-8", in: "tiff-kinds.txt") },
        "bmp": { try listed("palette4-header40", in: "bmp-kinds.txt", isBigEndian: false) },
        "bmp in runs": { try listed("rle8", in: "bmp-kinds.txt", isBigEndian: false) },
        "bmp with masks": { try listed("565-header124", in: "bmp-kinds.txt", isBigEndian: false) },
        "ico": { NumberedFile(try fixture("mask.ico"), isBigEndian: false) },
        "cur": { NumberedFile(try fixture("mask.cur"), 0..<80, isBigEndian: false) },
        "ico of a png": { NumberedFile(try fixture("png.ico"), 0..<100, isBigEndian: false) },
    ]

    private static func listed(_ name: String, in list: String, isBigEndian: Bool = true) throws -> NumberedFile {
        let line = try #require(ImageListFixture.lines(of: list).first { $0.name == name })
        return NumberedFile(line.data, isBigEndian: isBigEndian)
    }

    // Exit tests capture values from Swift 6.3 on.
    #if compiler(>=6.3)
    @Test(
        "A file with any number in its header is an image or an error, and takes no more memory than images may",
        .enabled(if: memoryIsOurs),
        arguments: files.map(\.key)
    )
    func numbers(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            let make = try #require(FileNumberTests.files.first { $0.key == name }?.value)
            let file = try make()
            #expect(read(Data(file.data)).isEmpty)
            // Of what claims to be large there is none, and that is an error of its own.
            try limitMemory(leaving: 512 << 20)
            let before = try peakMemory()
            file.forEachChange { data, what in
                for error in read(data) {
                    if case ImagingError.outOfMemory? = error as? ImagingError { Issue.record("\(what()): \(error)") }
                }
            }
            let taken = try peakMemory() - before
            #expect(taken < 64 << 20)
        }
    }
    #endif
}
