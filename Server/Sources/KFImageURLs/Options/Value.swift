// How texts become values: numbers, names, colours, pairs of a format and its quality. For the arguments of options and
// for settings.

/// A kind of value: what it may be, in words, and how it is read and written.
struct Value<T: Sendable>: Sendable {
    /// What it may be, for messages and for the reference page.
    let words: String
    let read: @Sendable (String) -> T?
    let write: @Sendable (T) -> String

    /// The same, where nil is written as the word.
    func orNil(_ word: String) -> Value<T?> {
        Value<T?>(words: words, read: { text in read(text).map(Optional.some) }, write: { $0.map(write) ?? word })
    }
}

extension Value where T == Int {
    /// Whole numbers.
    static func integer(_ range: ClosedRange<Int>) -> Self {
        let words =
            range.upperBound == .max
            ? "integer ≥ \(range.lowerBound)" : "integer \(range.lowerBound)–\(range.upperBound)"
        return Value(words: words, read: { Int($0).flatMap { range.contains($0) ? $0 : nil } }, write: { "\($0)" })
    }
}

extension Value where T == Int? {
    /// The same, where 0 is nil.
    var withZero: Self {
        Value(words: words, read: { text in read(text).map { $0 == 0 ? nil : $0 } }, write: write)
    }
}

extension Value where T == Int {
    /// A number of pixels; one that is too large for any image becomes a billion, so that sums of some cannot overflow.
    static var length: Self {
        let number = Value.integer(0...(.max))
        return Value(words: number.words, read: { number.read($0).map { min($0, mostPixels) } }, write: number.write)
    }
}

extension Value where T == Double {
    /// Any number, also as `1e2`.
    static var number: Self { number("number") { _ in true } }

    /// Numbers from a lower bound on.
    static func number(from lowest: Double) -> Self {
        number("number ≥ \(numberText(lowest))") { $0 >= lowest }
    }

    /// Numbers of a range.
    static func number(_ range: ClosedRange<Double>) -> Self {
        number("number \(numberText(range.lowerBound))–\(numberText(range.upperBound))") { range.contains($0) }
    }

    /// Numbers above 0, up to a bound.
    static func positive(upTo highest: Double) -> Self {
        number("number > 0, ≤ \(numberText(highest))") { $0 > 0 && $0 <= highest }
    }

    private static func number(_ words: String, where isValid: @escaping @Sendable (Double) -> Bool) -> Self {
        Value(
            words: words,
            read: { text in Double(text).flatMap { $0.isFinite && isValid($0) ? $0 : nil } },
            write: numberText
        )
    }
}

extension Value where T == Bool {
    /// Truth values as Go's `strconv.ParseBool` reads them.
    static var boolean: Self {
        Value(
            words: "boolean",
            read: { text in
                switch text {
                case "1", "t", "T", "TRUE", "true", "True": true
                case "0", "f", "F", "FALSE", "false", "False": false
                default: nil
                }
            },
            write: { $0 ? "1" : "0" }
        )
    }
}

extension Value where T: RawRepresentable & CaseIterable, T.RawValue == String {
    /// One of the names of an enumeration.
    static func name(but excluded: T? = nil) -> Self {
        let names = T.allCases.map(\.rawValue).filter { $0 != excluded?.rawValue }
        return Value(
            words: names.joined(separator: ", "),
            read: { text in names.contains(text) ? T(rawValue: text) : nil },
            write: \.rawValue
        )
    }
}

extension Value where T == FileFormat {
    static var format: Self {
        let names = FileFormat.allCases.map(\.rawValue).joined(separator: ", ")
        return Value(words: "format: jpg, \(names)", read: FileFormat.init(name:), write: \.rawValue)
    }
}

extension Value where T == Color {
    static var color: Self {
        Value(words: "hexadecimal colour, 3 or 6 digits", read: Color.init(hex:), write: { "\($0)" })
    }
}

extension Value where T == String {
    static func text(_ words: String) -> Self {
        Value(words: words, read: { $0 }, write: { $0 })
    }

    /// What stands between two things: any text that is not empty.
    static let separator = Value(words: "text", read: { $0.isEmpty ? nil : $0 }, write: { $0 })
}

/// Without a fraction where there is none.
private func numberText(_ number: Double) -> String {
    number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
}

enum FormatQualities {
    /// What is wrong with a list.
    struct Complaint: Error {
        let text: String
    }

    /// Reads format, quality, format, quality and so on.
    static func read(pairs values: [String]) -> Result<[FileFormat: Int], Complaint> {
        if values.allSatisfy(\.isEmpty) { return .success([:]) }
        guard values.count.isMultiple(of: 2) else { return .failure(Complaint(text: "a format has no quality")) }
        var qualities: [FileFormat: Int] = [:]
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let format = FileFormat(name: values[index]) else {
                return .failure(Complaint(text: "\(quoted(values[index])) is no format"))
            }
            guard let quality = Value.integer(0...100).read(values[index + 1]) else {
                return .failure(
                    Complaint(text: "\(quoted(values[index + 1])) is no quality, which is an integer 0–100")
                )
            }
            qualities[format] = quality
        }
        return .success(qualities)
    }
}
