// A line of the tables in Tests/Catalogue, and the pixels that it expects; the README there explains both.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

/// How near pixels must be.
enum Nearness: Equatable {
    case steps(Int)
    case decibels(Double)

    static let exact = steps(0)

    /// What keeps two bitmaps from being this near; nil where they are.
    func difference(_ one: Bitmap, _ other: Bitmap) -> String? {
        guard one.size == other.size else { return "\(one.size), not \(other.size)" }
        if one.words == other.words { return nil }
        switch self {
        case .decibels(let least):
            let likeness = one.likeness(to: other)
            return likeness >= least ? nil : "\(likeness) dB"
        case .steps(let most):
            let pairs = zip(one.rows.joined(), other.rows.joined())
            return pairs.first { !$0.isNear($1, within: most) }.map { "\($0), not \($1)" }
        }
    }

    /// "30 dB", "2 steps", or "=".
    init?(_ text: String) {
        let words = text.split(separator: " ")
        switch (words.first.flatMap { Double($0) }, words.last) {
        case (nil, "="?): self = .exact
        case (let number?, "dB"?): self = .decibels(number)
        case (let number?, "step"?), (let number?, "steps"?): self = .steps(Int(number))
        default: return nil
        }
    }
}

/// A line about a file.
struct CatalogueRow: CustomTestStringConvertible {
    enum Pixels {
        /// Those of an image, or of a strip of frames.
        case like(String, Nearness)
        /// The file is a list of this many images with their pixels.
        case images(Int, Nearness)
        /// There are none, for this reason.
        case refused(String)
        /// A file of tests has to know.
        case knownBy(String)
        /// They are what others are compared with.
        case reference
    }

    let format: String
    let file: String
    let subject: String
    let pixels: Pixels
    /// How near an image that is decoded small is to the whole made smaller.
    let small: Nearness?
    let size: PixelSize?
    let facts: [String]

    var testDescription: String { file }
    var isReference: Bool { if case .reference = pixels { true } else { false } }
    var type: ImageContentType? { ImageContentType(fileExtension: (file as NSString).pathExtension) }

    /// The delays of the frames in milliseconds; none for a still.
    var delays: [Int] {
        let words = facts.first { $0.hasPrefix("frames of ") }?.split(separator: " ") ?? []
        return words.compactMap { Int($0) }
    }

    /// What follows a word among the facts.
    func fact(_ word: String) -> String? {
        facts.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }

    init?(format: String, cells: [String]) {
        guard cells.count == 6, !cells[0].isEmpty, !cells[1].isEmpty else { return nil }
        (self.format, file, subject) = (format, cells[0], cells[1])
        (small, size) = (Nearness(cells[3]), PixelSize(words: cells[4]))
        facts = cells[5].isEmpty ? [] : cells[5].components(separatedBy: ", ")
        let parts = cells[2].components(separatedBy: ", ")
        let nearness = parts.last.flatMap { Nearness($0) }
        let words = cells[2].split(separator: " ").map(String.init)
        switch words.dropFirst().first {
        case _ where cells[2] == "reference": pixels = .reference
        case _ where words.first == "refused:": pixels = .refused(words.dropFirst().joined(separator: " "))
        case _ where cells[2].hasSuffix("Tests"): pixels = .knownBy(cells[2])
        case "images"?, "images,"?: pixels = .images(Int(words[0]) ?? 0, nearness ?? .exact)
        default:
            pixels = .like(parts.dropLast(nearness == nil ? 0 : 1).joined(separator: ", "), nearness ?? .exact)
        }
    }

    /// The lines of a table.
    static func rows(of format: String) throws -> [CatalogueRow] {
        let url = Catalogue.folder.appending(path: "\(format)/README.md")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("|") }
        return try lines.dropFirst(2).map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
            let trimmed = cells.map { $0.trimmingCharacters(in: .whitespaces) }
            return try #require(CatalogueRow(format: format, cells: trimmed), "\(format): \(line)")
        }
    }

    static func all() throws -> [CatalogueRow] { try Catalogue.formats.flatMap(rows) }
}

extension PixelSize {
    /// From words like "96 × 64".
    fileprivate init?(words: String) {
        let sides = words.components(separatedBy: " × ").compactMap { Int($0) }
        guard sides.count == 2 else { return nil }
        self.init(sides[0], sides[1])
    }
}

extension CatalogueRow {
    /// The right pixels: of a file or of a formula, or a part of them.
    func expected(_ source: String, _ size: PixelSize) throws -> Bitmap {
        let parts = source.components(separatedBy: " from ")
        let words = parts[0].split(separator: " ", maxSplits: 1).map(String.init)
        let formula = ["scene": false, "veil": true][words[0]]
        let formulaSize = words.dropFirst().first.flatMap { PixelSize(words: $0) } ?? size
        let whole: Bitmap
        if let isVeiled = formula {
            whole = Self.scene(formulaSize, isVeiled: isVeiled)
        } else {
            whole = try Codecs.decode(Data(contentsOf: Catalogue.url(parts[0], format: format))).bitmap()
        }
        guard let corner = parts.dropFirst().first?.split(separator: ",").compactMap({ Int($0) }) else { return whole }
        let part = CGRect(x: corner[0], y: corner[1], width: size.width, height: size.height)
        return try #require(try whole.part(part))
    }

    /// The image that the script of the fixtures computes, with an alpha that grows from left to right if it is veiled.
    private static func scene(_ size: PixelSize, isVeiled: Bool) -> Bitmap {
        Bitmap.of(size.width, size.height) { x, y in
            let u = Double(x) / Double(size.width - 1), v = Double(y) / Double(size.height - 1)
            let isDisc = (u - 0.3) * (u - 0.3) + (v - 0.35) * (v - 0.35) < 0.03
            let (r, g, b): (Int, Int, Int)
            if isDisc {
                (r, g, b) = (250, 240, 60)
            } else {
                (r, g, b) = (Int(40 + 200 * u), Int(30 + 190 * v), Int(220 - 120 * u * v))
            }
            let pixel = Pixel.premultiplied(r, g, b, isVeiled ? min(255, max(0, (x - 8) * 6)) : 255)
            let (alpha, red) = (UInt32(pixel.a) << 24, UInt32(pixel.r) << 16)
            return alpha | red | UInt32(pixel.g) << 8 | UInt32(pixel.b)
        }
    }
}
