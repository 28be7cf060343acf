// PNG as a series of chunks: taken apart, and written. Their meaning is defined elsewhere.

import CKFCodecs

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
