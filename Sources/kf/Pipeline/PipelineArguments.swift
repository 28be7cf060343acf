// The arguments of one step, read one after the other as numbers, sizes, colours and words.

import Foundation

/// The arguments between a step's parentheses, taken from the front.
struct PipelineArguments {
    /// A place on an image.
    enum Place {
        /// From 0 at the left or top to 1 at the right or bottom.
        case anchor(CGPoint)
        /// Counted from the upper left corner.
        case pixel(CGPoint)
    }

    /// The largest width, height or radius a pipeline may ask for, in pixels.
    static let largestSide = 16_384.0

    private let step: String
    private let usage: String
    private let inside: Fragment
    private var rest: [Fragment]
    private var taken = 0
    private var seen: Set<String> = []

    init(inside: Fragment, step: String, usage: String) {
        self.step = step
        self.usage = usage
        self.inside = inside
        rest = inside.trimmed.isEmpty ? [] : inside.split(separator: ",").map(\.trimmed)
    }

    /// Whether every argument has been taken.
    var isEmpty: Bool { rest.isEmpty }

    // MARK: Required arguments

    /// Takes a size: `WxH`.
    mutating func size() throws(PipelineError) -> CGSize { try size(try next()) }

    /// Takes a size of which one side may be left out, `Wx` or `xH`: that side is 0.
    mutating func sizeOrSide() throws(PipelineError) -> CGSize { try size(try next(), mayLackSide: true) }

    /// Takes a radius: `20` or `50%`.
    mutating func length() throws(PipelineError) -> PipelineStep.Length { try length(try next(), "a radius") }

    /// Takes a number of a range; `what` names it in messages, with its article.
    mutating func number(_ what: String, _ range: ClosedRange<Double>) throws(PipelineError) -> Double {
        try number(try next(), what, range)
    }

    /// Takes a colour.
    ///
    /// - Parameter other: What could be there, too.
    /// - Returns: The colour.
    /// - Throws: Why it is none.
    mutating func color(or other: String? = nil) throws(PipelineError) -> HexColor { try color(try next(), or: other) }

    /// Takes the name of a file if the next argument has a dot or a slash, and is no number.
    mutating func pathIfAny() -> String? {
        guard let text = rest.first?.text, text.contains(where: { $0 == "." || $0 == "/" }), Self.number(text) == nil
        else { return nil }
        taken += 1
        rest.removeFirst()
        return text
    }

    /// Takes one of a few words.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        of type: Word.Type
    ) throws(PipelineError) -> Word where Word.RawValue == String {
        let argument = try next()
        return try word(argument, of: type, "unknown here")
    }

    /// Takes a place: two numbers from 0 to 1 are an anchor, larger ones and those with `px` a pixel.
    mutating func place() throws(PipelineError) -> Place {
        let (x, y) = (try next(), try next())
        let isPixel = [x, y].contains { $0.text.hasSuffix("px") || Self.number($0.text) ?? 0 > 1 }
        return isPixel
            ? .pixel(CGPoint(x: try pixel(x), y: try pixel(y)))
            : .anchor(CGPoint(x: try number(x, "an anchor", 0...1), y: try number(y, "an anchor", 0...1)))
    }

    // MARK: Optional arguments

    /// Takes a number if there is another argument.
    mutating func numberIfAny(_ what: String, _ range: ClosedRange<Double>) throws(PipelineError) -> Double? {
        isEmpty ? nil : try number(what, range)
    }

    /// Takes one of a few words if the next argument is no `key=value`; these keys may follow.
    mutating func wordIfAny<Word: RawRepresentable & CaseIterable>(
        of type: Word.Type,
        before keys: [String]
    ) throws(PipelineError) -> Word? where Word.RawValue == String {
        guard let argument = rest.first, argument.firstIndex(of: "=") == nil else { return nil }
        guard let word = Word(rawValue: argument.text) else {
            throw argument.error(
                "\"\(argument.text)\" is unknown here",
                allowed: Word.allCases.map(\.rawValue) + keys.map { "\($0)=…" }
            )
        }
        rest.removeFirst()
        return word
    }

    /// Takes a colour if the next argument is no number.
    mutating func colorIfAny() throws(PipelineError) -> HexColor? {
        guard let first = rest.first, Self.number(first.text) == nil else { return nil }
        return try color()
    }

    /// Takes an opacity and a colour, each if it is given.
    mutating func opacityAndColor() throws(PipelineError) -> (alpha: Double?, color: HexColor?) {
        guard let first = rest.first else { return (nil, nil) }
        var alpha: Double?
        if Self.number(first.text) != nil {
            alpha = try number("an opacity", 0...1)
        } else if HexColor(first.text) == nil {
            throw first.error(
                "\"\(first.text)\" is neither an opacity nor a colour",
                allowed: ["an opacity from 0 to 1, such as 0.5", HexColor.spellings.joined(separator: ", ")]
            )
        }
        return (alpha, isEmpty ? nil : try color())
    }

    /// Takes `key=value` if there is another argument.
    ///
    /// Each key may come once.
    mutating func named(_ keys: [String]) throws(PipelineError) -> (key: String, value: Fragment)? {
        guard !isEmpty else { return nil }
        let argument = rest.removeFirst()
        let allowed = keys.filter { !seen.contains($0) }.map { "\($0)=…" } + [")"]
        let equals = argument.firstIndex(of: "=") ?? argument.count
        let key = argument.slice(0..<equals).trimmed
        guard keys.contains(key.text), equals < argument.count else {
            throw argument.error("\"\(argument.text)\" is unknown here", allowed: allowed)
        }
        guard seen.insert(key.text).inserted else {
            throw key.error("\"\(key.text)\" is there twice", allowed: allowed)
        }
        return (key.text, argument.dropFirst(equals + 1).trimmed)
    }

    /// Throws if arguments are left.
    func finish() throws(PipelineError) {
        guard let left = rest.first else { return }
        throw left.error("\"\(step)\" has one argument too many", allowed: [usage])
    }

    private mutating func next() throws(PipelineError) -> Fragment {
        guard isEmpty else {
            taken += 1
            return rest.removeFirst()
        }
        // Optional arguments stand in brackets.
        let needed = usage.dropFirst(step.count + 1).prefix { $0 != "[" && $0 != ")" }.split(separator: ",").count
        let missing = max(1, needed - taken)
        let amount = missing > 1 ? "\(missing)\(taken > 0 ? " more" : "")" : taken > 0 ? "one more" : "an"
        throw inside.end.error(
            "\"\(step)\" needs \(amount) \(missing > 1 ? "arguments" : "argument")",
            allowed: [usage]
        )
    }
}

// MARK: Values

extension PipelineArguments {
    /// Reads `WxH`, or if a side may be left out, `Wx` and `xH` as well: that side is 0.
    func size(_ value: Fragment, mayLackSide: Bool = false) throws(PipelineError) -> CGSize {
        let sides = ["x", "X", "×"].map { value.split(separator: $0) }.first { $0.count > 1 } ?? [value]
        let range = "from 1 to \(Int(Self.largestSide))"
        let oneSide = mayLackSide ? ["Wx or xH to keep the proportions, such as 200x or x100"] : []
        let allowed = ["WxH in pixels, each \(range), such as 200x100"] + oneSide
        guard sides.count == 2 else { throw value.error("\"\(value.text)\" is not a size", allowed: allowed) }
        let numbers = sides.map { Self.number($0.trimmed.text) }
        let isOneSide = mayLackSide && sides.count { $0.isEmpty } == 1
        for (side, number) in zip(sides, numbers) where !(isOneSide && side.isEmpty) {
            guard let number, number >= 1, number <= Self.largestSide else {
                throw side.error("\"\(side.text)\" is not a number of pixels \(range)", allowed: allowed)
            }
        }
        return CGSize(width: numbers[0] ?? 0, height: numbers[1] ?? 0)
    }

    /// Reads the number of a pixel, `100` or `100px`.
    private func pixel(_ value: Fragment) throws(PipelineError) -> Double {
        let digits = value.text.hasSuffix("px") ? String(value.text.dropLast(2)) : value.text
        guard let number = Self.number(digits), number == number.rounded(), (0...1_000_000).contains(number) else {
            throw value.error(
                "\"\(value.text)\" is not a pixel",
                allowed: [
                    "a whole number of pixels from the left or top edge, such as 100 or 100px",
                    "for both sides, an anchor from 0 to 1",
                ]
            )
        }
        return number
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

    /// Reads a length, `20` or `50%`; `what` names it in messages, with its article.
    func length(_ value: Fragment, _ what: String) throws(PipelineError) -> PipelineStep.Length {
        let allowed = ["\(what) in pixels, such as 20 or 7.5", "a part of the size from 0% to 100%, such as 50%"]
        guard value.text.hasSuffix("%") else {
            guard let pixels = Self.number(value.text), (0...Self.largestSide).contains(pixels) else {
                throw value.error("\"\(value.text)\" is not \(what)", allowed: allowed)
            }
            return .pixels(pixels)
        }
        guard let percent = Self.number(String(value.text.dropLast())), (0...100).contains(percent) else {
            throw value.error("\"\(value.text)\" is not a part of the size", allowed: allowed)
        }
        return .fraction(percent / 100)
    }

    /// Reads a colour; `other` is what could be there, too.
    func color(_ value: Fragment, or other: String? = nil) throws(PipelineError) -> HexColor {
        guard let color = HexColor(value.text) else {
            throw value.error(
                "\"\(value.text)\" is not a colour",
                allowed: [HexColor.spellings.joined(separator: ", ")] + (other.map { [$0] } ?? [])
            )
        }
        return color
    }

    /// Reads one of a few words; `what` says what another text is, such as "not a filter".
    func word<Word: RawRepresentable & CaseIterable>(
        _ value: Fragment,
        of type: Word.Type,
        _ what: String
    ) throws(PipelineError) -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: value.text) else {
            throw value.error("\"\(value.text)\" is \(what)", allowed: Word.allCases.map(\.rawValue))
        }
        return word
    }

    /// Reads a number of a range; `what` names it in messages, with its article.
    func number(
        _ value: Fragment,
        _ what: String,
        _ range: ClosedRange<Double>
    ) throws(PipelineError) -> Double {
        guard let number = Self.number(value.text), range.contains(number) else {
            let limits = "from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))"
            throw value.error("\"\(value.text)\" is not \(what)", allowed: ["\(what) \(limits)"])
        }
        return number
    }

    /// A plain decimal number.
    ///
    /// `Double` would also take `nan`, `0x1p3` and `1e999`.
    private static func number(_ text: String) -> Double? {
        let digits = ["-", "+"].contains(text.prefix(1)) ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.last != ".",
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func text(_ bound: Double) -> String {
        bound == bound.rounded() ? String(Int(bound)) : String(bound)
    }
}
