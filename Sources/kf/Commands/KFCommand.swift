// The entry of the tool: its commands and its exit statuses.

import ArgumentParser
import Foundation
import KFSupport

/// `kf`: load, inspect, process and cache images from the command line.
@main
struct KFCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kf",
        abstract: "Loads, caches, inspects and processes images.",
        discussion: """
              kf process in.png -o out.webp
              kf process photos -o small --recursive --process 'thumbnail(1600x)'
              kf fetch https://example.com/a.jpg -o a.webp --process 'resize(200x)'
              kf info photo.jpg

            A SOURCE is an http or https URL, a file: URL, a path, a data: URL, or - for standard input. Names \
            of files need not be UTF-8; where that of the working directory is not, name files by their whole paths.

            Exit status: 0 when all went well, 1 when something failed (the rest is still done), 2 for bad usage.
            """,
        version: "kf \(version)",
        subcommands: [
            FetchCommand.self, PrefetchCommand.self, InfoCommand.self, ProcessCommand.self, ShowCommand.self,
            CompareCommand.self, SheetCommand.self, HashCommand.self, CacheCommand.self,
            DoctorCommand.self,
        ]
    )

    /// The version of the tool and of the library it comes with.
    static let version = LibraryVersion.text

    /// Runs the command line and ends the process.
    static func main() async {
        let arguments = CommandLine.systemNames
        do {
            var command = try parseAsRoot(arguments)
            if let doubt = UsageCheck.doubt(in: arguments) { Foundation.exit(ExitStatus.report(usage: doubt)) }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            Foundation.exit(ExitStatus.afterOutput(ExitStatus.success))
        } catch {
            Foundation.exit(ExitStatus.afterOutput(ExitStatus.report(error, for: arguments, by: Self.self)))
        }
    }
}

/// The exit statuses of the tool.
enum ExitStatus {
    static let success: Int32 = 0
    static let failure: Int32 = 1
    static let usage: Int32 = 2

    /// Thrown by commands that have already printed what failed.
    static let failed = ExitCode(failure)

    /// The final status: results that could not be written are a failure too.
    static func afterOutput(_ status: Int32) -> Int32 {
        guard let failure = Console.failureOfOutput else { return status }
        Console().error(failure.text)
        return status == success ? self.failure : status
    }

    /// Prints the lines about a command line that is wrong, and returns the exit status.
    static func report(usage lines: [String]) -> Int32 {
        Console().error(lines[0], explanation: Array(lines.dropFirst()))
        return usage
    }

    /// Prints the error that ended a command, and returns the exit status.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - arguments: The command line.
    ///   - command: The tool.
    /// - Returns: The status.
    static func report(
        _ error: any Error,
        for arguments: [String],
        by command: any ParsableCommand.Type
    ) -> Int32 {
        if let code = error as? ExitCode { return code.rawValue }
        if let error = error as? Failure {
            Console().error(error.text)
            return failure
        }
        if let problem = UsageCheck.problem(in: arguments) { return report(usage: problem) }
        let text = command.fullMessage(for: error)
        guard command.exitCode(for: error) != .success else {
            // Help, versions and completion scripts are results.
            Console().print(lines: text.components(separatedBy: "\n"))
            return success
        }
        // The parser repeats its help below the message; the pointer to it is enough.
        let lines = text.components(separatedBy: "\n").filter { !$0.hasPrefix("Usage:") && !$0.hasPrefix("Help:") }
        let message = lines.first ?? ""
        Console().error(
            message.hasPrefix("Error: ") ? String(message.dropFirst("Error: ".count)) : message,
            explanation: Array(lines.dropFirst())
        )
        return command.exitCode(for: error) == .validationFailure ? usage : failure
    }
}
