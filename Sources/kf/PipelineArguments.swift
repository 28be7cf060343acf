// The arguments of one step, read one after the other. Knows numbers, sizes and colours, but no step.

import Foundation

/// A part of a text that remembers where it stands in the whole.
struct Fragment: Equatable {
    private let whole: [Character]
    private let range: Range<Int>

    init(whole: String) {
        self.whole = Array(whole)
        range = 0..<self.whole.count
    }

    private init(_ whole: [Character], _ range: Range<Int>) {
        self.whole = whole
        self.range = range
    }

    var text: String { String(whole[range]) }
    var count: Int { range.count }
    var isEmpty: Bool { range.isEmpty }
    var first: Character? { isEmpty ? nil : whole[range.lowerBound] }

    /// The place behind the last character.
    var end: Fragment { slice(count..<count) }

    /// The characters at these places, counted from the fragment's own start.
    func slice(_ places: Range<Int>) -> Fragment {
        Fragment(whole, range.lowerBound + places.lowerBound..<range.lowerBound + places.upperBound)
    }

    func dropFirst(_ count: Int) -> Fragment { slice(min(count, self.count)..<self.count) }

    func prefix(while belongs: (Character) -> Bool) -> Fragment {
        slice(0..<(whole[range].firstIndex { !belongs($0) } ?? range.upperBound) - range.lowerBound)
    }

    func firstIndex(of character: Character) -> Int? {
        whole[range].firstIndex(of: character).map { $0 - range.lowerBound }
    }

    /// Without white space at both ends.
    ///
    /// Nothing but white space becomes the place where it ends.
    var trimmed: Fragment {
        guard let first = whole[range].firstIndex(where: { !$0.isWhitespace }),
            let last = whole[range].lastIndex(where: { !$0.isWhitespace })
        else { return end }
        return Fragment(whole, first..<last + 1)
    }

    /// The parts between occurrences of `separator`; always at least one.
    func split(separator: String) -> [Fragment] {
        let separator = Array(separator)
        var parts: [Fragment] = []
        var start = range.lowerBound
        var place = start
        while place + separator.count <= range.upperBound {
            if Array(whole[place..<place + separator.count]) == separator {
                parts.append(Fragment(whole, start..<place))
                place += separator.count
                start = place
            } else {
                place += 1
            }
        }
        return parts + [Fragment(whole, start..<range.upperBound)]
    }

    /// A mistake that stands here.
    func error(_ problem: String, allowed: [String]) -> PipelineError {
        PipelineError(text: String(whole), range: range, problem: problem, allowed: allowed)
    }
}

/// The arguments between a step's parentheses, taken from the front.
struct PipelineArguments {
    private let usage: String
    private let inside: Fragment
    private var rest: [Fragment]
    private var seen: Set<String> = []

    init(inside: Fragment, usage: String) {
        self.usage = usage
        self.inside = inside
        rest = inside.trimmed.isEmpty ? [] : inside.split(separator: ",").map(\.trimmed)
    }

    /// Takes the step's size, which must be there.
    mutating func size(_ step: String) throws(PipelineError) -> CGSize { try size(try next(step)) }

    /// Takes the step's radius, which must be there: `20` or `50%`.
    mutating func length(_ step: String) throws(PipelineError) -> PipelineStep.Length {
        let argument = try next(step)
        let allowed = ["a radius in pixels, such as 20 or 7.5", "a part of the size from 0% to 100%, such as 50%"]
        guard argument.text.hasSuffix("%") else {
            guard let pixels = Self.number(argument.text), pixels <= PipelineParser.largestSide else {
                throw argument.error("\"\(argument.text)\" is not a radius", allowed: allowed)
            }
            return .pixels(pixels)
        }
        guard let percent = Self.number(String(argument.text.dropLast())), percent <= 100 else {
            throw argument.error("\"\(argument.text)\" is not a part of the size", allowed: allowed)
        }
        return .fraction(percent / 100)
    }

    /// Takes one of a few words, if another argument is there at all.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        of type: Word.Type
    ) throws(PipelineError) -> Word? where Word.RawValue == String {
        guard let argument = take() else { return nil }
        guard let word = Word(rawValue: argument.text) else {
            throw argument.error("\"\(argument.text)\" is unknown here", allowed: Word.allCases.map(\.rawValue))
        }
        return word
    }

    /// Takes `key=value`, if another argument is there at all.
    ///
    /// Each key may come once.
    mutating func named(_ keys: [String]) throws(PipelineError) -> (key: String, value: Fragment)? {
        guard let argument = take() else { return nil }
        let allowed = keys.filter { !seen.contains($0) }.map { "\($0)=…" }
        let equals = argument.firstIndex(of: "=") ?? argument.count
        let key = argument.slice(0..<equals).trimmed
        guard keys.contains(key.text), equals < argument.count else {
            throw argument.error("\"\(argument.text)\" is unknown here", allowed: allowed)
        }
        guard seen.insert(key.text).inserted else {
            throw key.error("\"\(key.text)\" is there twice", allowed: allowed + [")"])
        }
        return (key.text, argument.dropFirst(equals + 1).trimmed)
    }

    /// Reads `WxH`.
    func size(_ value: Fragment) throws(PipelineError) -> CGSize {
        let sides = value.split(separator: "x")
        let range = "from 1 to \(Int(PipelineParser.largestSide))"
        let allowed = ["WxH in pixels, each \(range), such as 200x100"]
        guard sides.count == 2 else { throw value.error("\"\(value.text)\" is not a size", allowed: allowed) }
        let numbers = sides.map { Self.number($0.trimmed.text) }
        for (side, number) in zip(sides, numbers) {
            guard let number, number >= 1, number <= PipelineParser.largestSide else {
                throw side.error("\"\(side.text)\" is not a number of pixels \(range)", allowed: allowed)
            }
        }
        return CGSize(width: numbers[0] ?? 1, height: numbers[1] ?? 1)
    }

    /// Reads `tl+br`.
    func corners(_ value: Fragment) throws(PipelineError) -> Set<PipelineStep.Corner> {
        var result: Set<PipelineStep.Corner> = []
        for part in value.split(separator: "+") {
            guard let corner = PipelineStep.Corner(rawValue: part.trimmed.text) else {
                throw part.error(
                    "\"\(part.text)\" is not a corner",
                    allowed: ["tl, tr, bl and br, joined by +, such as tl+tr"]
                )
            }
            result.insert(corner)
        }
        return result
    }

    /// Reads a colour.
    func color(_ value: Fragment) throws(PipelineError) -> HexColor {
        guard let color = HexColor(value.text) else {
            throw value.error(
                "\"\(value.text)\" is not a colour",
                allowed: [HexColor.spellings.joined(separator: ", ")]
            )
        }
        return color
    }

    /// Complains about what was not taken.
    func finish(_ step: String) throws(PipelineError) {
        guard let left = rest.first else { return }
        throw left.error("\"\(step)\" has one argument too many", allowed: [usage])
    }

    private mutating func take() -> Fragment? { rest.isEmpty ? nil : rest.removeFirst() }

    private mutating func next(_ step: String) throws(PipelineError) -> Fragment {
        guard let argument = take() else {
            throw inside.end.error("\"\(step)\" needs an argument", allowed: [usage])
        }
        return argument
    }

    /// A plain decimal number, not negative.
    ///
    /// `Double` would also take `nan`, `0x1p3` and `1e999`.
    private static func number(_ text: String) -> Double? {
        guard text.first?.isNumber == true, text.last != ".",
            text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
}
