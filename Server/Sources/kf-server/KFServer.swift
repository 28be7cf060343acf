// The program with its commands. For those who run an image server.

import ArgumentParser
@_spi(Server) import Kingfisher
import KingfisherDecoder

@main enum Main {
    static func main() async {
        // A process that was started as a decoder is one from here on.
        EmbeddedDecoder.start()
        await KFServer.main()
    }
}

struct KFServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kf-server",
        abstract: "Serves images over HTTP, made as their URLs say.",
        discussion: """
            The URLs are those of imgproxy. Variables of the environment set the server up: those that begin with KF_, \
            and IMGPROXY_ where they mean the same. docs/server-options.md lists options and settings.
            """,
        version: "kf-server \(versionOfLibrary())",
        subcommands: [Serve.self, Check.self, Health.self],
        defaultSubcommand: Serve.self
    )
}
