// A writer of PNGs for tests, with every type, depth and filter, and with mistakes.

import Foundation

/// A PNG that is written sample by sample, with stored (not compressed) data.
struct PNGWriter {
    /// The number of components of the colour types.
    static let components = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
    /// Every pair of colour type and depth that PNG has.
    static let kinds: [(type: Int, depth: Int)] = [
        (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16),
        (6, 8), (6, 16),
    ]

    var width: Int
    var height: Int
    var depth = 8
    var type = 2
    var isInterlaced = false
    /// The height in the header, if it differs from the true one.
    var claimedHeight: Int?
    /// Whole chunks between the header and the pixels.
    var chunks: [UInt8] = []
    /// A component of the pixel at x, y.
    var sample: (_ x: Int, _ y: Int, _ component: Int) -> Int
    /// The filter of a line.
    var filter: (_ line: Int) -> UInt8 = { UInt8($0 % 5) }
    /// The sizes in bytes of the pieces into which the compressed data is cut; 0 makes an empty piece.
    var pieces: [Int] = [Int.max]
    /// Changes to the filtered lines, and to the zlib stream around them.
    var changeLines: (inout [UInt8]) -> Void = { _ in }
    var changeStream: (inout [UInt8]) -> Void = { _ in }

    init(_ width: Int, _ height: Int, sample: @escaping (Int, Int, Int) -> Int) {
        (self.width, self.height, self.sample) = (width, height, sample)
    }

    var data: Data {
        let size = Self.number(width) + Self.number(claimedHeight ?? height)
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes += Self.chunk("IHDR", size + [UInt8(depth), UInt8(type), 0, 0, isInterlaced ? 1 : 0])
        bytes += chunks
        var lines = isInterlaced ? interlacedLines : lines(x: 0, y: 0, dx: 1, dy: 1)
        changeLines(&lines)
        var stream = Self.stored(lines)
        changeStream(&stream)
        var rest = stream[...]
        for piece in pieces {
            bytes += Self.chunk("IDAT", Array(rest.prefix(piece)))
            rest = rest.dropFirst(piece)
        }
        return Data(bytes + Self.chunk("IEND", []))
    }

    /// A chunk with its checksum.
    static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + content
        return number(content.count) + named + number(Int(checksum(named)))
    }

    static func number(_ value: Int, bytes: Int = 4) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
    }

    /// Bytes in a zlib stream that compresses nothing.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var offset = 0
        repeat {
            let size = min(65_535, bytes.count - offset)
            stream.append(offset + size == bytes.count ? 1 : 0)
            for value in [size, ~size] { stream += [UInt8(value & 0xFF), UInt8(value >> 8 & 0xFF)] }
            stream += bytes[offset..<offset + size]
            offset += size
        } while offset < bytes.count
        var (a, b) = (1, 0)
        for byte in bytes {
            a = (a + Int(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return stream + number(b << 16 | a)
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { (sum: UInt32, byte: UInt8) -> UInt32 in table[Int(sum & 0xFF) ^ Int(byte)] ^ sum >> 8 }
    }

    /// The seven passes of Adam7; those without pixels have no lines.
    private var interlacedLines: [UInt8] {
        let passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        return passes.flatMap { lines(x: $0.0, y: $0.1, dx: $0.2, dy: $0.3) }
    }

    private func lines(x: Int, y: Int, dx: Int, dy: Int) -> [UInt8] {
        guard x < width else { return [] }
        var result: [UInt8] = []
        var prior: [UInt8]?
        for (index, row) in stride(from: y, to: height, by: dy).enumerated() {
            let line = packed(row, stride(from: x, to: width, by: dx))
            result.append(filter(index))
            result += filtered(line, prior ?? [UInt8](repeating: 0, count: line.count), filter(index))
            prior = line
        }
        return result
    }

    private func packed(_ row: Int, _ columns: StrideTo<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        var (bits, pending) = (0, 0)
        for column in columns {
            for component in 0..<(Self.components[type] ?? 1) {
                bits = bits << depth | sample(column, row, component)
                pending += depth
                while pending >= 8 {
                    pending -= 8
                    bytes.append(UInt8(truncatingIfNeeded: bits >> pending))
                }
                bits &= (1 << pending) - 1
            }
        }
        if pending > 0 { bytes.append(UInt8(truncatingIfNeeded: bits << (8 - pending))) }
        return bytes
    }

    private func filtered(_ line: [UInt8], _ prior: [UInt8], _ filter: UInt8) -> [UInt8] {
        let step = max(1, depth * (Self.components[type] ?? 1) / 8)
        return line.indices.map { index in
            let left = index >= step ? Int(line[index - step]) : 0
            let corner = index >= step ? Int(prior[index - step]) : 0
            let above = Int(prior[index])
            let guess: Int
            switch filter {
            case 1: guess = left
            case 2: guess = above
            case 3: guess = (left + above) / 2
            case 4:
                let estimate = left + above - corner
                let (a, b, c) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
                guess = a <= b && a <= c ? left : b <= c ? above : corner
            default: guess = 0
            }
            return line[index] &- UInt8(guess)
        }
    }
}
