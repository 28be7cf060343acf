// Paths made from the grammar and broken at random: each gives a plan or an error of the client, and sizes.

import Foundation
import KFImageURLs
import Testing

@Suite struct MutatedPathsTests {
    /// SplitMix64: the same numbers in each run.
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }

        mutating func element<C: Collection>(of collection: C, or fallback: C.Element) -> C.Element {
            collection.randomElement(using: &self) ?? fallback
        }
    }

    private static let options: [(names: [String], arguments: [String])] = OptionExample.all.map { example in
        let option = OptionTable.all.first { $0.names.contains(example.name) }
        return (option?.names ?? [], example.good + example.bad + [""])
    }
    private static let sources = [
        "plain/https://example.com/a.jpg", "plain/local:/a%20b.png@webp", "aHR0cDovL2V4YW1w/bGUuY29tL2EuanBn.png",
        "aHR0cDovL2V4YW1wbGUuY29tL2EuanBn", "plain/a@heic", "enc/aHR0", "plain/%E4%BD%A0@avif",
    ]
    private static let pieces = [
        ":", "/", "@", ".", "%", "%3A", "%00", "=", "-", "?", "\u{0}", "\u{301}", "😀", "nan", "1e999", "-0",
        "9223372036854775807", "-9223372036854775808", "0x1p3", "plain/", "::::::::", "//", "pr:a", "fp", "sm",
    ]

    private func path(presetsOnly: Bool, using generator: inout Generator) -> String {
        var segments = ["", generator.element(of: ["_", "unsafe", "w:1", ""], or: "_")]
        if presetsOnly { segments.append(generator.element(of: ["a", "a:b", "known:a:known", "no", ":"], or: "a")) }
        for _ in 0..<Int.random(in: 0...(presetsOnly ? 1 : 5), using: &generator) {
            let option = generator.element(of: Self.options, or: ([], []))
            let name = generator.element(of: option.names, or: "w")
            segments.append(name + ":" + generator.element(of: option.arguments, or: ""))
        }
        segments.append(generator.element(of: Self.sources, or: ""))
        return segments.joined(separator: "/")
    }

    private func mutate(_ path: String, using generator: inout Generator) -> String {
        var bytes = Array(path.utf8)
        for _ in 0..<Int.random(in: 0...3, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            let end = min(bytes.count, place + Int.random(in: 0...6, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.insert(contentsOf: generator.element(of: Self.pieces, or: "").utf8, at: place)
            case 1: bytes.removeSubrange(place..<end)
            case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
            case 3: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &generator) }
            default: bytes.removeLast(bytes.count - end)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("A hundred thousand paths give a plan with sizes, or an error from 400 to 499", arguments: 0..<4)
    func mutated(part: Int) {
        let parser = PathParser(
            settings: settings {
                $0.allowsSecurityOptions = part.isMultiple(of: 2)
                $0.presets = ["a": ["w:10", "pr:b"], "b": ["pr:a", "rs:fill:10:10"], "known": ["q:1"]]
                $0.allowsOnlyPresets = part == 3
                $0.allowedSources = part == 1 ? [SourcePattern("http*://*example.com/"), SourcePattern("l*a")] : []
            }
        )
        var generator = Generator(state: UInt64(part) + 43)
        var counts: [Int: Int] = [:]
        for _ in 0..<25_000 {
            let path = mutate(path(presetsOnly: part == 3, using: &generator), using: &generator)
            do throws(RequestError) {
                let plan = try parser.parse(path).plan
                let source = PixelSize(
                    width: Int.random(in: 1...20_000, using: &generator),
                    height: Int.random(in: 1...20_000, using: &generator)
                )
                let size = ImageGeometry(source: source, plan: plan, resultLimit: part * 1000).size
                if size.width < 1 || size.height < 1 { Issue.record("\(path) gives \(size)") }
                counts[200, default: 0] += 1
            } catch {
                if !(400...499).contains(error.status) || error.reason.isEmpty { Issue.record("\(path): \(error)") }
                counts[error.status, default: 0] += 1
            }
        }
        // Neither all good nor all bad, or it would try little.
        #expect(counts[200, default: 0] > 100 && counts[404, default: 0] > 1000 && counts[403, default: 0] > 100)
    }
}
