// A small GIF encoder for the demo's pictures: a fixed palette, dithering, LZW. The library itself only reads GIF.

/// Writes pictures as a GIF that repeats for ever.
struct GIFWriter {
    /// Six steps of each channel.
    private static let steps = 6
    private static let codeSize = 8

    private var bytes: [UInt8] = Array("GIF89a".utf8)
    private let width: Int
    private let height: Int

    /// The file with these frames, all of one size, each shown for `delay` hundredths of a second.
    static func encode(_ frames: [Canvas], delay: Int) -> [UInt8] {
        guard let first = frames.first else { return [] }
        var writer = GIFWriter(width: first.width, height: first.height)
        for frame in frames { writer.add(frame, delay: delay) }
        return writer.bytes + [0x3B]
    }

    private init(width: Int, height: Int) {
        self.width = width
        self.height = height
        add(word: width)
        add(word: height)
        // A global palette of 256 colours, the first one as background, square pixels.
        bytes += [0xF7, 0, 0]
        for index in 0..<256 {
            for divisor in [Self.steps * Self.steps, Self.steps, 1] {
                bytes.append(index < 216 ? UInt8(index / divisor % Self.steps * 51) : 0)
            }
        }
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    }

    private mutating func add(_ frame: Canvas, delay: Int) {
        bytes += [0x21, 0xF9, 4, 0]
        add(word: delay)
        bytes += [0, 0, 0x2C, 0, 0, 0, 0]
        add(word: width)
        add(word: height)
        bytes += [0, UInt8(Self.codeSize)]
        let data = Self.compressed(Self.indices(of: frame))
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            bytes.append(UInt8(block.count))
            bytes += block
        }
        bytes.append(0)
    }

    private mutating func add(word: Int) { bytes += [UInt8(word & 255), UInt8(word >> 8 & 255)] }

    /// The palette entry of every pixel; a pattern of four by four hides the steps between colours.
    private static func indices(of frame: Canvas) -> [UInt8] {
        let pattern: [Float] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]
        var result: [UInt8] = []
        result.reserveCapacity(frame.width * frame.height)
        for y in 0..<frame.height {
            for x in 0..<frame.width {
                let color = frame[x, y]
                let nudge = pattern[(y & 3) * 4 + (x & 3)] / 16
                var index = 0
                for channel in [color.red, color.green, color.blue] {
                    index = index * steps + min(steps - 1, Int(max(0, channel) * Float(steps - 1) + nudge))
                }
                result.append(UInt8(index))
            }
        }
        return result
    }

    /// LZW with codes that grow from nine to twelve bits.
    private static func compressed(_ indices: [UInt8]) -> [UInt8] {
        let clear = 1 << codeSize
        var writer = BitWriter()
        var table: [Int: Int] = [:]
        var next = clear + 2
        var width = codeSize + 1
        writer.add(clear, bits: width)
        guard var current = indices.first.map(Int.init) else { return writer.finished() }
        for index in indices.dropFirst() {
            let pair = current << 8 | Int(index)
            if let known = table[pair] {
                current = known
                continue
            }
            writer.add(current, bits: width)
            if next == 4096 {
                writer.add(clear, bits: width)
                table.removeAll(keepingCapacity: true)
                next = clear + 2
                width = codeSize + 1
            } else {
                table[pair] = next
                if next == 1 << width { width += 1 }
                next += 1
            }
            current = Int(index)
        }
        writer.add(current, bits: width)
        writer.add(clear + 1, bits: width)
        return writer.finished()
    }

    /// Bits packed from the lowest one on.
    private struct BitWriter {
        private var bytes: [UInt8] = []
        private var pending = 0
        private var count = 0

        mutating func add(_ value: Int, bits: Int) {
            pending |= value << count
            count += bits
            while count >= 8 {
                bytes.append(UInt8(pending & 255))
                pending >>= 8
                count -= 8
            }
        }

        func finished() -> [UInt8] { count > 0 ? bytes + [UInt8(pending & 255)] : bytes }
    }
}
