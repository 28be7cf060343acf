// PNG as a series of chunks, taken apart and written; and the chunks that libpng does not report: orientation, coded
// colours (cICP) and animation. Decodes nothing.

import CKFCodecs

/// The information in the chunks of a PNG, wherever they are.
struct PNGChunks {
    /// From EXIF, or else from text: EXIF as a profile, or XMP.
    var orientation: Orientation { exifOrientation ?? profileOrientation ?? xmpOrientation ?? .up }
    private var exifOrientation, profileOrientation, xmpOrientation: Orientation?
    /// The keywords of texts that have been read; of others with the same only the first counts.
    private var keywords: Set<String> = []
    private let animation: APNGChunks?
    /// From `cICP`: primaries and curve.
    private var codePoints: (primaries: Int, transfer: Int)?
    /// The brightest light in the image, and the brightest of the screen it was made on, in candela a square metre; 0
    /// when unknown.
    private var brightestPixel = 0.0
    private var brightestScreen = 0.0
    /// From `cICP`, which takes precedence over the file's other descriptions of its colours; nil when there is none,
    /// or it is not supported.
    var profile: ColorProfile? {
        guard let codePoints else { return nil }
        let known = [brightestPixel, brightestScreen].first { $0 > 0 }
        let peak = min(known ?? HDRTransferFunction.usualPeak, 10_000)
        return .coded(primaries: codePoints.primaries, transfer: codePoints.transfer, peak: peak)
    }
    /// Nil for stills.
    var frameCount: Int? { animation?.frames.count }
    /// Whether there are frames, and the image in full is not one of the frames.
    var hasHiddenImage: Bool { animation?.hasHiddenImage ?? false }
    /// Whether frames are missing, or one in part.
    var isTruncated: Bool { animation?.isTruncated ?? false }
    /// 0 means endlessly.
    var loopCount: Int { animation?.loopCount ?? 0 }
    /// Seconds for all frames.
    var duration: Double { animation?.duration ?? 0 }

    /// The names of those that matter here, as numbers.
    private enum Name: Int {
        case codePoints = 0x6349_4350  // cICP
        case contentLight = 0x634C_4C49  // cLLI
        case screen = 0x6D44_4356  // mDCV
        case end = 0x4945_4E44  // IEND
        case exif = 0x6558_4966  // eXIf
        case text = 0x7445_5874  // tEXt
        case compressedText = 0x7A54_5874  // zTXt
        case internationalText = 0x6954_5874  // iTXt
        case pixels = 0x4944_4154  // IDAT

        /// Whether it has a meaning before the pixels only.
        var isAboutColors: Bool { [.codePoints, .contentLight, .screen].contains(self) }
    }

    init(_ bytes: UnsafeRawBufferPointer) {
        animation = APNGChunks(bytes)
        var offset = 8
        var hasSeenPixels = false
        while offset + 12 <= bytes.count {
            let size = Self.number(bytes, offset, 4)
            guard size <= bytes.count - offset - 12 else { break }
            switch Name(rawValue: Self.number(bytes, offset + 4, 4)) {
            case .end?: return
            case .pixels?: hasSeenPixels = true
            case let name? where hasSeenPixels && name.isAboutColors: break
            case let name? where Self.isIntact(bytes, offset, size):
                read(name, UnsafeRawBufferPointer(rebasing: bytes[offset + 8..<offset + 8 + size]))
            default: break
            }
            offset += 12 + size
        }
    }

    /// Whether the checksum of the chunk is right: libpng drops the others of its kind when it is not, and so do we.
    private static func isIntact(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Bool {
        guard let start = bytes.start else { return false }
        return Int(kf_crc32(start + offset + 4, size + 4)) == number(bytes, offset + 8 + size, 4)
    }

    private mutating func read(_ name: Name, _ content: UnsafeRawBufferPointer) {
        switch name {
        case .exif: exifOrientation = EXIF.orientation(content)
        case .text, .compressedText, .internationalText:
            read(PNGText(content, isInternational: name == .internationalText, isCompressed: name == .compressedText))
        case .codePoints where content.count == 4:
            // Primaries, curve, matrix (of which PNG has none), and whether values use the whole range.
            guard content[2] == 0, content[3] == 1 else { return }
            codePoints = (Int(content[0]), Int(content[1]))
        case .contentLight where content.count == 8: brightestPixel = Double(Self.number(content, 0, 4)) / 10_000
        case .screen where content.count == 24: brightestScreen = Double(Self.number(content, 16, 4)) / 10_000
        default: break
        }
    }

    private mutating func read(_ text: PNGText?) {
        guard let text, let kind = text.kind, keywords.insert(text.keyword).inserted else { return }
        switch kind {
        case .profile: profileOrientation = profileOrientation ?? text.orientation
        case .xmp: xmpOrientation = text.orientation
        }
    }

    private static func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int, _ size: Int) -> Int {
        bytes[offset..<offset + size].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The structure of every PNG.
enum PNGFile {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Calls `body` with the chunks of a file, in their order; the last one may be incomplete.
    static func forEachChunk(of file: [UInt8], _ body: (_ name: String, _ content: ArraySlice<UInt8>) -> Void) {
        var rest = file.dropFirst(signature.count)
        while rest.count >= 12 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let chunk = rest.dropFirst(4).prefix(4 + size)
            body(String(decoding: chunk.prefix(4), as: UTF8.self), chunk.dropFirst(4))
            rest = rest.dropFirst(12 + size)
        }
    }
}

extension [UInt8] {
    /// Four bytes, the highest one first.
    static func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    /// Appends a chunk with its length and checksum.
    mutating func appendPNGChunk(_ name: String, _ content: some Collection<UInt8>) {
        self += Self.bigEndian(content.count)
        let start = count
        self += name.utf8
        self += content
        let sum = withUnsafeBufferPointer { all in
            let summed = all[start...]
            return kf_crc32(UnsafeBufferPointer(rebasing: summed).baseAddress, summed.count)
        }
        self += Self.bigEndian(Int(sum))
    }
}
