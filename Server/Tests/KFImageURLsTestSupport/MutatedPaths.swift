// Paths made from the grammar and broken at random. For the tests of the parser, and of the server as a whole.

import KFImageURLs

/// An endless series of paths, the same for each seed.
package struct MutatedPaths {
    /// SplitMix64: the same numbers in each run.
    package struct Generator: RandomNumberGenerator {
        var state: UInt64

        package mutating func next() -> UInt64 {
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

    /// What the paths are made with; a test may use it for more.
    package var generator: Generator
    private let sources: [String]

    package static let someSources = [
        "plain/https://example.com/a.jpg", "plain/local:/a%20b.png@webp", "aHR0cDovL2V4YW1w/bGUuY29tL2EuanBn.png",
        "aHR0cDovL2V4YW1wbGUuY29tL2EuanBn", "plain/a@heic", "enc/aHR0", "plain/%E4%BD%A0@avif",
    ]
    private static let options: [(names: [String], good: [String], all: [String])] = OptionExample.all.map { example in
        let option = OptionTable.all.first { $0.names.contains(example.name) }
        return (option?.names ?? [], example.good, example.good + example.bad + [""])
    }
    private static let pieces = [
        ":", "/", "@", ".", "%", "%3A", "%00", "=", "-", "?", "\u{0}", "\u{301}", "😀", "nan", "1e999", "-0",
        "9223372036854775807", "-9223372036854775808", "0x1p3", "plain/", "::::::::", "//", "pr:a", "fp", "sm",
    ]

    /// - Parameters:
    ///   - seed: Decides about all paths.
    ///   - sources: The ends of paths, before they are broken.
    package init(seed: UInt64, sources: [String] = someSources) {
        (generator, self.sources) = (Generator(state: seed), sources)
    }

    /// A path, and one of presets alone if that is wanted.
    package mutating func next(presetsOnly: Bool = false) -> String { mutate(path(presetsOnly: presetsOnly)) }

    private mutating func path(presetsOnly: Bool) -> String {
        var segments = ["", generator.element(of: ["_", "unsafe", "w:1", ""], or: "_")]
        if presetsOnly { segments.append(generator.element(of: ["a", "a:b", "known:a:known", "no", ":"], or: "a")) }
        let isGood = Bool.random(using: &generator)
        for _ in 0..<Int.random(in: 0...(presetsOnly ? 1 : 5), using: &generator) {
            let option = generator.element(of: Self.options, or: ([], [], []))
            let name = generator.element(of: option.names, or: "w")
            segments.append(name + ":" + generator.element(of: isGood ? option.good : option.all, or: ""))
        }
        segments.append(generator.element(of: sources, or: ""))
        return segments.joined(separator: "/")
    }

    private mutating func mutate(_ path: String) -> String {
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
}
