// The mistakes of a command line that the argument parser does not name: unknown commands, unknown options where
// something else is missing too, options that are there twice, and files whose names begin with a dash. Used once a
// command line was not accepted, and for accepted ones in which there may be one of the last two.

import ArgumentParser
import Foundation

/// A walk over a command line that knows the commands and their options.
struct UsageCheck {
    /// The commands named so far, the tool itself first.
    private var path: [CommandDescription]
    private var isAskingForHelp = false
    /// The options that have one value, by their names, and how they were given so far.
    private var given: [[ArgumentDescription.Name]: Substring] = [:]

    private init(_ tool: CommandDescription) { path = [tool] }

    /// The lines of a message about the first mistake; nil when there is none to be found here.
    static func problem(in arguments: [String], of tool: any ParsableCommand.Type) -> [String]? {
        guard !arguments.contains(where: isRequest), let tool = CommandDescription.tool(tool) else { return nil }
        var check = UsageCheck(tool)
        guard let problem = check.firstProblem(in: arguments) else { return nil }
        let command = check.path.map(\.commandName).joined(separator: " ")
        return [problem, "  See '\(command) --help' for more information."]
    }

    /// The lines about an accepted command line with an option that is there twice, or with a file that may have been
    /// taken for an option of one letter.
    static func doubt(in arguments: [String], of tool: any ParsableCommand.Type) -> [String]? {
        let words = arguments.filter { $0.hasPrefix("-") && $0 != "-" }
        // The walk takes its time; most command lines need none. The names of one option begin with one letter.
        let isRepeated = Set(words.map { $0.drop { $0 == "-" }.prefix(1) }).count < words.count
        return isRepeated || words.contains(where: isFile) ? problem(in: arguments, of: tool) : nil
    }

    private static func isFile(_ argument: String) -> Bool { access(argument.systemName, F_OK) == 0 }

    /// Whether an argument asks for something of the parser itself.
    private static func isRequest(_ argument: String) -> Bool {
        let requests = [
            "-h", "--help", "--help-hidden", "--version", "--generate-completion-script", "--experimental-dump-help",
        ]
        return requests.contains { argument == $0 || argument.hasPrefix("\($0)=") } || argument.hasPrefix("---")
    }

    private mutating func firstProblem(in arguments: [String]) -> String? {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return nil }
            if argument.hasPrefix("-"), argument != "-" {
                guard let option = option(argument) else { return problem(ofOption: argument) }
                if let problem = problem(ofLetter: argument) ?? problem(ofSecond: option, argument) { return problem }
                if option.takesValue, !isWithValue(argument) { rest = rest.dropFirst() }
            } else if let problem = enter(argument) {
                return problem
            }
        }
        return nil
    }

    // MARK: Commands

    /// Enters a command; returns the problem if there is none of that name.
    ///
    /// A word after a command without subcommands is a source, and always right.
    private mutating func enter(_ word: String) -> String? {
        let command = path[path.count - 1]
        let others = (command.subcommands ?? []).filter { $0.commandName != "help" }
        if path.count == 1, word == "help", !isAskingForHelp {
            isAskingForHelp = true
            return nil
        }
        guard !others.isEmpty || isAskingForHelp else { return nil }
        if let next = others.first(where: { $0.commandName == word }) {
            path.append(next)
            return nil
        }
        let names = others.map(\.commandName)
        let problem = "\(path.map(\.commandName).joined(separator: " ")) has no command \"\(word)\""
        if let meant = Suggestion.closest(to: word, among: names) { return "\(problem); did you mean \(meant)?" }
        return problem + (names.isEmpty ? "" : "; use one of \(names.joined(separator: ", "))")
    }

    // MARK: Options

    /// The option that an argument names; nil when there is none.
    private func option(_ argument: String) -> ArgumentDescription? {
        let isLong = argument.hasPrefix("--")
        let text = isLong ? String(argument.dropFirst(2).prefix { $0 != "=" }) : String(argument.dropFirst().prefix(1))
        let name = ArgumentDescription.Name(kind: isLong ? "long" : "short", name: text)
        let option = path[path.count - 1].arguments?.first { $0.names?.contains(name) == true }
        // Only a value can follow a letter directly.
        guard let option, isLong || option.takesValue || argument.count == 2 else { return nil }
        return option
    }

    /// Whether an option's value is in the same argument.
    private func isWithValue(_ argument: String) -> Bool {
        argument.hasPrefix("--") ? argument.contains("=") : argument.count > 2
    }

    /// The problem of an option of one letter that may be meant as a file whose name begins like it.
    private func problem(ofLetter argument: String) -> String? {
        guard !argument.hasPrefix("--"), argument.count > 2, Self.isFile(argument) else { return nil }
        let letter = argument.prefix(2)
        return "\(argument) is a file, and could be the option \(letter) as well; put ./ before the file's name, "
            + "or a space behind \(letter)"
    }

    /// The problem of an option that has one value and was given before, under this or another name.
    private mutating func problem(ofSecond option: ArgumentDescription, _ argument: String) -> String? {
        let isLetter = !argument.hasPrefix("--")
        let name = isLetter ? argument.prefix(2) : argument.prefix { $0 != "=" }
        guard option.takesValue, !option.isRepeating, let first = given.updateValue(name, forKey: option.names ?? [])
        else { return nil }
        guard first == name else { return "\(first) and \(name) are one option; give it once" }
        let advice =
            switch name {
            case "--process": ", with |> between its steps"
            case _ where isLetter: ", and put ./ before a file's name that begins with it"
            default: ""
            }
        return "\(name) is there twice; give it once\(advice)"
    }

    private func problem(ofOption argument: String) -> String {
        let isFile = Self.isFile(argument)
        if isFile || (argument.count > 2 && !argument.hasPrefix("--")) {
            let what = isFile ? "is a file whose name begins like an option" : "is no option"
            return "\(argument) \(what); put ./ before a file's name, or -- before the files, behind all options"
        }
        let name = String(argument.prefix { $0 != "=" })
        let names = (path[path.count - 1].arguments ?? []).flatMap { $0.names ?? [] }
        let known = names.filter(\.isLong).map { "--\($0.name)" }
        let meant = Suggestion.closest(to: name, among: known).map { ". Did you mean '\($0)'?" }
        return "Unknown option '\(name)'\(meant ?? "")"
    }
}
