// All fixtures, truncated and with bits flipped, and all inputs that fuzzing found: each gives an image or an error,
// in bounded time and memory.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import KFImaging

/// These tests take long, so they run on a thread of their own and do not block the threads that other tests share.
private let executor = WorkExecutor("kf.damage", threads: 1)

/// The limits for these tests.
private let limits: ImageDecodingLimits = {
    var limits = ImageDecodingLimits(maxPixelCount: 1 << 20, maxCoefficientBytes: 16 << 20)
    limits.maxFrameCount = 100
    return limits
}()

/// Whether the pixels are premultiplied, and opaque if the bitmap is.
private func isValid(_ bitmap: Bitmap) -> Bool {
    bitmap.withUnsafeBytes { bytes in
        guard bytes.count >= bitmap.bytesPerRow * bitmap.height else { return false }
        for y in 0..<bitmap.height {
            for x in 0..<bitmap.width {
                let pixel = bytes.load(fromByteOffset: y * bitmap.bytesPerRow + x * 4, as: UInt32.self)
                let alpha = pixel >> 24
                if alpha == 255 { continue }
                if !bitmap.hasAlpha || pixel & 255 > alpha || pixel >> 8 & 255 > alpha || pixel >> 16 & 255 > alpha {
                    return false
                }
            }
        }
        return true
    }
}

/// The limits for a file: libheif and libjxl crash or take what memory there is for some that are damaged, so these are
/// decoded in processes of their own.
private func limits(for type: ImageContentType?) -> ImageDecodingLimits {
    var limits = limits
    if type == .heic || type == .heif || type == .jxl { limits.isolation = .required }
    return limits
}

/// Decodes the data in every way.
private func decodeEverything(_ data: Data, thoroughly: Bool = false) {
    let type = ImageContentType(sniffing: data)
    let limits = limits(for: type)
    func examine(_ bitmap: Bitmap?) {
        guard let bitmap else { return }
        #expect(bitmap.width > 0 && bitmap.height > 0 && bitmap.width * bitmap.height <= limits.maxPixelCount)
        if thoroughly { #expect(isValid(bitmap)) }
    }
    if let codec = type.flatMap({ Codecs.builtIn($0) }) { _ = try? Codecs.info(of: data, codec, limits) }
    for maxPixelSize in [nil, 10] {
        let options = DecodingOptions(maxPixelSize: maxPixelSize, limits: limits)
        examine((try? Codecs.decode(data, options: options))?.cgImage)
    }
    guard let source = (try? Codecs.frameSource(of: data, limits: limits)) ?? nil else { return }
    #expect(source.frameCount > 0 && source.frameCount <= limits.maxFrameCount)
    let count = min(source.frameCount, thoroughly ? 20 : 6)
    for index in 0..<count {
        #expect(source.duration(at: index).isFinite && source.duration(at: index) >= 0)
        examine(source.frame(at: index))
    }
    // Going back composes the earlier frames in another way.
    if count > 2 { examine(source.copy().frame(at: count - 2, maxSize: CGSize(width: 8, height: 8))) }
}

@Suite struct DamageTests {
    @Test("Undamaged files give valid pixels", arguments: try allFixtureNames())
    func validPixels(name: String) async throws {
        let data = try fixture(name)
        await executor.run { decodeEverything(data, thoroughly: true) }
    }

    @Test("Truncated files are decoded or refused", arguments: try allFixtureNames())
    func truncated(name: String) async throws {
        let data = try fixture(name)
        await executor.run {
            for step in 0..<20 { decodeEverything(data.prefix(data.count * step / 20), thoroughly: step % 7 == 6) }
            for cut in 1...6 { decodeEverything(data.dropLast(cut)) }
        }
    }

    @Test("Files with flipped bits are decoded or refused", arguments: try allFixtureNames())
    func flippedBits(name: String) async throws {
        let data = try fixture(name)
        await executor.run {
            var generator = SeededGenerator(state: UInt64(data.count))
            for round in 0..<24 {
                var damaged = data
                for _ in 0...(round % 4) {
                    // Headers are short and matter most.
                    let range = round % 2 == 0 ? 0..<min(100, data.count) : 0..<data.count
                    damaged[Int.random(in: range, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                }
                decodeEverything(damaged, thoroughly: round % 9 == 0)
            }
        }
    }

    @Test("Files with overwritten numbers are decoded or refused", arguments: try allFixtureNames())
    func overwrittenNumbers(name: String) async throws {
        let data = try fixture(name)
        await executor.run {
            var generator = SeededGenerator(state: UInt64(data.count) + 1)
            for round in 0..<12 where data.count > 16 {
                var damaged = data
                let start = Int.random(in: 8..<min(data.count - 4, 400), using: &generator)
                for offset in 0..<4 { damaged[start + offset] = round % 2 == 0 ? 0xFF : 0 }
                decodeEverything(damaged)
            }
        }
    }
}

/// Where the inputs are that fuzzing found.
private let found = Catalogue.folder.appending(path: "fuzzing")

/// Their folders and names.
func corpusFiles() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: found.path).filter { $0.contains("/") }.sorted()
}

/// One of them.
func corpusFile(_ name: String) throws -> Data { try Data(contentsOf: found.appending(path: name)) }

@Suite struct CorpusTests {
    @Test("Inputs that fuzzing found are decoded or refused", arguments: try corpusFiles())
    func fuzzingCorpus(file: String) async throws {
        let data = try corpusFile(file)
        await executor.run {
            decodeEverything(data, thoroughly: true)
            for cut in [1, 2, 8, data.count / 2] where cut < data.count { decodeEverything(data.dropLast(cut)) }
        }
    }
}
