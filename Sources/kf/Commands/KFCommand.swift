// The entry of the tool, with its commands.

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
            VariantsCommand.self, CompareCommand.self, SheetCommand.self, HashCommand.self, DupesCommand.self,
            CacheCommand.self, DoctorCommand.self,
        ]
    )

    /// The version of the tool and of the library it comes with.
    static let version = LibraryVersion.text

    /// Runs the command line and ends the process.
    static func main() async {
        let arguments = CommandLine.systemNames
        do {
            var command = try parseAsRoot(arguments)
            if let doubt = UsageCheck.doubt(in: arguments, of: Self.self) {
                Foundation.exit(ExitStatus.report(usage: doubt))
            }
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
