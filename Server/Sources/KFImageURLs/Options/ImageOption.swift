// An option of URLs and its arguments. The entries of the table; the parser applies them, the reference page lists
// them.

/// One argument of an option.
package struct OptionArgument: Sendable {
    package let name: String
    /// What it may be, in words.
    package let words: String
    /// What it is unless set, as URLs write it.
    package let initial: String
    /// Whether the value was one; an argument that was not changes nothing.
    let set: @Sendable (inout PlanBuilder, String) -> Bool
    private(set) var isTruthValue = false

    init(
        _ name: String,
        words: String,
        initial: String = "",
        set: @escaping @Sendable (inout PlanBuilder, String) -> Bool = { _, _ in true }
    ) {
        (self.name, self.words, self.initial, self.set) = (name, words, initial, set)
    }

    /// An argument that is one field of the plan.
    init<T>(
        _ name: String,
        _ value: Value<T>,
        _ field: any WritableKeyPath<ImagePlan, T> & Sendable,
        initial: String? = nil
    ) {
        self.init(name, words: value.words, initial: initial ?? value.write(ImagePlan()[keyPath: field])) {
            builder,
            text in
            guard let read = value.read(text) else { return false }
            builder.plan[keyPath: field] = read
            return true
        }
    }

    /// A truth value: anything that is none is false, with a warning.
    init(_ name: String, _ field: any WritableKeyPath<ImagePlan, Bool> & Sendable) {
        let value = Value<Bool>.boolean
        self.init(name, words: value.words, initial: value.write(ImagePlan()[keyPath: field])) { builder, text in
            if value.read(text) == nil { builder.warn("\(quoted(text)) is not a boolean; \(name) is off.") }
            builder.plan[keyPath: field] = value.read(text) ?? false
            return true
        }
        isTruthValue = true
    }
}

/// An option: its names, its arguments, and what they do.
package struct ImageOption: Sendable {
    /// The headings of the reference page.
    package enum Group: String, CaseIterable, Sendable {
        case size = "Size"
        case crop = "Crop and canvas"
        case look = "Look"
        case output = "Format and quality"
        case metadata = "Metadata"
        case delivery = "Delivery"
        case limits = "Limits"
    }

    /// The long name first.
    package let names: [String]
    package let group: Group
    /// One sentence.
    package let help: String
    /// The option as a URL may have it.
    package let example: String
    package let arguments: [OptionArgument]
    /// Whether all arguments may be repeated.
    package let repeats: Bool
    /// Why the arguments do not go together; nil if they do.
    private let check: @Sendable ([String]) -> String?
    /// In place of the arguments' own setters, for those that depend on one another.
    private let setTogether: (@Sendable (inout PlanBuilder, [String]) -> String?)?

    init(
        _ names: String...,
        group: Group,
        help: String,
        example: String,
        arguments: [OptionArgument],
        repeats: Bool = false,
        check: @escaping @Sendable ([String]) -> String? = { _ in nil },
        setTogether: (@Sendable (inout PlanBuilder, [String]) -> String?)? = nil
    ) {
        (self.names, self.group, self.help, self.example) = (names, group, help, example)
        (self.arguments, self.repeats, self.check, self.setTogether) = (arguments, repeats, check, setTogether)
    }

    /// Why the values cannot be applied; nil after they were.
    ///
    /// Empty values leave what was there, but a truth value that is all an option has is off.
    func apply(_ values: [String], to builder: inout PlanBuilder) -> String? {
        if !repeats && values.count > arguments.count {
            return "\(values.count) arguments, at most \(arguments.count) are taken"
        }
        if let complaint = check(values) { return complaint }
        if let setTogether { return setTogether(&builder, values) }
        for (argument, value) in zip(arguments, values)
        where !value.isEmpty || argument.isTruthValue && arguments.count == 1 {
            guard argument.set(&builder, value) else { return Self.refusal(of: value, for: argument) }
        }
        return nil
    }

    static func refusal(of value: String, for argument: OptionArgument) -> String {
        "\(argument.name) is \(quoted(value)), and must be: \(argument.words)"
    }
}
