// The three arguments of a gravity, which end several options. For the tables of options.

extension [OptionArgument] {
    /// Type, x and y of a gravity; `initialKind` is what the reference page says where it is not the field's.
    static func gravity(
        _ kind: any WritableKeyPath<ImagePlan, Gravity.Kind> & Sendable,
        x: any WritableKeyPath<ImagePlan, Double> & Sendable,
        y: any WritableKeyPath<ImagePlan, Double> & Sendable,
        allowsSmart: Bool = true,
        initialKind: String? = nil
    ) -> Self {
        [
            OptionArgument("gravity", .name(but: allowsSmart ? nil : Gravity.Kind.smart), kind, initial: initialKind),
            OptionArgument("x", .number, x),
            OptionArgument("y", .number, y),
        ]
    }
}

/// What is wrong with the gravity that begins at the index: a focus point has both numbers, and smart has none.
func gravityComplaint(_ values: [String], at index: Int) -> String? {
    guard index < values.count else { return nil }
    let numbers = values[(index + 1)...].filter { !$0.isEmpty }
    switch Gravity.Kind(rawValue: values[index]) {
    case .focusPoint:
        let inside = numbers.compactMap(Double.init).filter { (0...1).contains($0) }
        return inside.count == 2 && numbers.count == 2 ? nil : "fp needs two numbers from 0 to 1"
    case .smart:
        return numbers.isEmpty ? nil : "sm has no offsets"
    default:
        return nil
    }
}
