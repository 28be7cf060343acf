// Decoders of terminal output for tests: kitty's graphics, sixels and half blocks become pixels again.

import Foundation
import Kingfisher
import Testing

@testable import kf

/// Decodes the sequences that terminals read.
enum TerminalDecoder {
    /// One image of kitty's protocol: the keys of its first piece, and its PNG.
    struct KittyImage {
        let keys: [String: String]
        let png: Data
    }

    /// The images in a stream; queries are left out.
    static func kitty(_ output: [UInt8]) throws -> [KittyImage] {
        var images: [KittyImage] = []
        var (keys, base64): ([String: String]?, String) = (nil, "")
        for part in String(decoding: output, as: UTF8.self).components(separatedBy: "\u{1B}_G").dropFirst() {
            let body = try #require(part.components(separatedBy: "\u{1B}\\").first)
            let fields = body.components(separatedBy: ";")
            let pairs = fields[0].split(separator: ",").map { $0.split(separator: "=").map(String.init) }
            let own = Dictionary(
                uniqueKeysWithValues: try pairs.map { (try #require($0.first), try #require($0.last)) }
            )
            guard own["a"] != "q" else { continue }
            try #require(fields[1].count <= 4096)
            // All pieces but the last are whole groups of four.
            if own["m"] == "1" { try #require(fields[1].count % 4 == 0) }
            keys = keys ?? own
            base64 += fields[1]
            guard own["m"] == "0" else { continue }
            images.append(KittyImage(keys: keys ?? [:], png: try #require(Data(base64Encoded: base64))))
            (keys, base64) = (nil, "")
        }
        return images
    }

    /// The sixel images in a stream.
    static func sixels(_ output: [UInt8]) throws -> [ShownPixels] {
        try String(decoding: output, as: UTF8.self).components(separatedBy: "\u{1B}P").dropFirst().map { part in
            let body = try #require(part.components(separatedBy: "\u{1B}\\").first)
            try #require(body.hasPrefix("0;1;0q\"1;1;"))
            var reader = SixelReader(Array(body.dropFirst("0;1;0q\"1;1;".count).utf8))
            return try reader.image()
        }
    }

    /// The pixels of lines of half blocks.
    static func halfBlocks(_ lines: [String]) throws -> ShownPixels {
        var rows: [[UInt32]] = []
        for line in lines {
            var (upper, lower): ([UInt32], [UInt32]) = ([], [])
            var (front, back): (UInt32, UInt32) = (0, 0)
            var rest = Substring(line)
            while let character = rest.popFirst() {
                switch character {
                case "\u{1B}":
                    let end = try #require(rest.firstIndex(of: "m"))
                    var codes = rest[..<end].dropFirst().split(separator: ";").compactMap { UInt32($0) }[...]
                    rest = rest[end...].dropFirst()
                    while let code = codes.popFirst() {
                        let channels = code == 38 || code == 48 ? Array(codes.prefix(4)) : []
                        codes = codes.dropFirst(channels.count)
                        let color = channels.isEmpty ? 0 : channels.dropFirst().reduce(0xFF) { $0 << 8 | $1 }
                        if code == 38 || code == 39 { front = color } else { back = color }
                    }
                case " ":
                    upper.append(back)
                    lower.append(back)
                case "▄":
                    upper.append(back)
                    lower.append(front)
                default:
                    try #require(character == "▀")
                    upper.append(front)
                    lower.append(back)
                }
            }
            // No colour of the image may stay set at the end of a line.
            try #require(front == 0 && back == 0)
            rows += [upper, lower]
        }
        return ShownPixels(width: rows.first?.count ?? 0, height: rows.count, colors: rows.flatMap { $0 })
    }
}

/// Reads one sixel image, from behind the raster attributes' aspect on.
private struct SixelReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func image() throws -> ShownPixels {
        let width = number()
        let height = try #require(next(";").map { _ in number() })
        var colors = [UInt32](repeating: 0, count: width * height)
        var palette: [Int: UInt32] = [:]
        var (color, x, y, count) = (UInt32(0), 0, 0, 1)
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "#"):
                let index = number()
                if bytes.first == UInt8(ascii: ";") {
                    var parts: [UInt32] = []
                    while next(";") != nil { parts.append(UInt32(number())) }
                    try #require(parts.count == 4 && parts[0] == 2 && index < 256)
                    palette[index] = parts.dropFirst().reduce(0xFF) { $0 << 8 | ($1 * 255 + 50) / 100 }
                }
                color = try #require(palette[index])
            case UInt8(ascii: "!"): count = number()
            case UInt8(ascii: "$"): x = 0
            case UInt8(ascii: "-"): (x, y) = (0, y + 6)
            default:
                try #require((63...126).contains(byte))
                for row in 0..<6 where (byte - 63) >> UInt8(row) & 1 == 1 {
                    try #require(x + count <= width && y + row < height)
                    for column in x..<x + count { colors[(y + row) * width + column] = color }
                }
                (x, count) = (x + count, 1)
            }
        }
        return ShownPixels(width: width, height: height, colors: colors)
    }

    private mutating func next(_ character: Unicode.Scalar) -> UInt8? {
        bytes.first == UInt8(ascii: character) ? bytes.popFirst() : nil
    }

    private mutating func number() -> Int {
        var value = 0
        while let byte = bytes.first, (48...57).contains(byte) {
            value = value * 10 + Int(byte - 48)
            bytes = bytes.dropFirst()
        }
        return value
    }
}

extension ShownPixels {
    /// The largest difference of a channel, or nil when the transparent pixels differ.
    func largestDifference(from other: ShownPixels) -> Int? {
        guard width == other.width, colors.count == other.colors.count else { return nil }
        var largest = 0
        for (one, two) in zip(colors, other.colors) {
            guard (one == 0) == (two == 0) else { return nil }
            let (one, two) = (ShownColor(one), ShownColor(two))
            largest = max(
                largest,
                abs(one.red - two.red),
                abs(one.green - two.green),
                abs(one.blue - two.blue)
            )
        }
        return largest
    }
}
