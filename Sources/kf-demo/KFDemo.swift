// The entry of the demonstrations, with their names. The program uses the library as any other could.

import ArgumentParser

/// `kf-demo`: shows the library at work, without the internet.
@main
struct KFDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kf-demo",
        abstract: "Shows the library at work, without the internet.",
        subcommands: [LoadCommand.self, GalleryCommand.self]
    )
}
