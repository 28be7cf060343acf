// The options of all commands, as docs/kf.md lists them.

import ArgumentParser
import Testing

@testable import kf

/// An option, once for all commands in which it means the same.
struct ListedOption: Sendable, CustomTestStringConvertible {
    /// As they are typed; a flag that can be negated has both of its forms.
    private(set) var names: [String] = []
    private(set) var commands: [String] = []
    let argument: ArgumentDescription

    private static let tool = CommandDescription.tool(KFCommand.self)
    private static let allCommands = (tool?.subcommands ?? []).filter { $0.commandName != "help" }

    /// All options by their names, but for those of the tool itself, which every command has.
    static let all: [ListedOption] = {
        let general = Set((tool?.arguments ?? []).compactMap(\.names).joined())
        var options: [ListedOption] = []
        for command in allCommands {
            for argument in arguments(of: command) where !general.isSuperset(of: argument.names ?? []) {
                let known = options.firstIndex { $0.argument.meaning == argument.meaning }
                if known == nil { options.append(ListedOption(argument: argument)) }
                options[known ?? options.count - 1].add(argument, of: command.commandName)
            }
        }
        return options.sorted { $0.argument.name < $1.argument.name }
    }()

    /// The arguments of a command and of its own commands.
    private static func arguments(of command: CommandDescription) -> [ArgumentDescription] {
        (command.arguments ?? []) + (command.subcommands ?? []).flatMap(arguments)
    }

    private mutating func add(_ argument: ArgumentDescription, of command: String) {
        for name in (argument.names ?? []).map({ ($0.isLong ? "--" : "-") + $0.name }) where !names.contains(name) {
            names.append(name)
        }
        if !commands.contains(command) { commands.append(command) }
    }

    /// What a user types.
    var usage: String {
        names.joined(separator: ", ") + (argument.takesValue ? " <\(argument.valueName ?? "")>" : "")
    }

    /// The names of its commands, or of the others where these are fewer.
    var commandList: String {
        let others = Self.allCommands.map(\.commandName).filter { !commands.contains($0) }
        return others.count < commands.count
            ? "all but \(others.joined(separator: ", "))" : commands.joined(separator: ", ")
    }

    var example: String? {
        let own = OptionExamples.all.first { name, line in
            name == argument.name && commands.contains(ExampleLine.words(line).first ?? "")
        }
        return own?.value
    }

    /// The option with the value that it has in its example; nil for a flag.
    var exampleValue: String? {
        guard argument.takesValue, let example else { return nil }
        let places = names.compactMap { example.firstRange(of: " \($0) ") }
        guard let place = places.first else { return nil }
        let value = example[place.upperBound...].prefixMatch(of: #/'[^']*'|[^ ]+/#)?.output ?? ""
        return "\(example[place].dropFirst())\(value)"
    }

    var testDescription: String { "\(names.last ?? "") of \(commands.joined(separator: ", "))" }
}

extension ArgumentDescription {
    /// The long name; of the form that negates a flag, the flag's.
    fileprivate var name: String {
        let name = names?.first(where: \.isLong)?.name ?? ""
        return name.hasPrefix("no-") ? String(name.dropFirst(3)) : name
    }

    /// What tells options apart.
    fileprivate var meaning: [String?] { [name, takesValue ? valueName : nil, abstract, defaultValue] }

    /// The help, with values and a default where it does not name them itself.
    var help: String {
        let values = valueName?.contains("|") == true ? nil : allValues?.joined(separator: ", ")
        let notes = [values.map { "values: \($0)" }, defaultValue.map { "default: \($0)" }].compactMap(\.self)
        return (abstract ?? "") + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    }
}
