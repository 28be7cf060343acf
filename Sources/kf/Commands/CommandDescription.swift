// The commands and options as the argument parser describes them: for the check of command lines, and for the page.

import ArgumentParser
import Foundation

/// A command as the parser describes it.
struct CommandDescription: Decodable, Sendable {
    let commandName: String
    let subcommands: [CommandDescription]?
    let arguments: [ArgumentDescription]?

    /// A tool with all of its commands; nil where the parser describes it in a form that is not known.
    static func tool(_ tool: any ParsableCommand.Type) -> CommandDescription? {
        do {
            _ = try tool.parseAsRoot(["--experimental-dump-help"])
            return nil
        } catch {
            struct Tool: Decodable { let command: CommandDescription }
            let description = Data(tool.fullMessage(for: error).utf8)
            return try? JSONDecoder().decode(Tool.self, from: description).command
        }
    }
}

/// An argument of a command: an option, a flag, or what has a place instead of a name.
struct ArgumentDescription: Decodable, Sendable {
    struct Name: Decodable, Hashable, Sendable {
        let kind: String
        let name: String

        var isLong: Bool { kind == "long" }
    }
    let kind: String
    let names: [Name]?
    let isRepeating: Bool
    /// What stands for the value in the help.
    let valueName: String?
    let defaultValue: String?
    let allValues: [String]?
    let abstract: String?

    var takesValue: Bool { kind == "option" }
}
