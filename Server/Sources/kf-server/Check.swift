// `kf-server check`: what is in force, and what is wrong. For those who set a server up, and for scripts that start one.

import ArgumentParser
import KFImageURLs

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints all settings and what is wrong with them; exits with 1 if the server would not start."
    )

    @OptionGroup var setup: SetupOptions

    func run() throws {
        let (configuration, problems) = setup.read()
        for (name, value) in configuration.inForce { print("\(name)=\(value)") }
        complain(problems.map(\.line))
        if problems.contains(where: \.isError) { throw ExitCode(1) }
    }
}
