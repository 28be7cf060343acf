// The exit statuses of the tool, and what is printed about errors before it ends. For all commands.

import ArgumentParser
import Foundation

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
        if let problem = UsageCheck.problem(in: arguments, of: command) { return report(usage: problem) }
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
