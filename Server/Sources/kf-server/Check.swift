// `kf-server check`: what is in force, and what is wrong. For those who set a server up, and for scripts that start one.

import ArgumentParser
import KFImageURLs
import Kingfisher
import KingfisherServer

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints all settings and what is wrong with them; exits with 1 if the server would not start."
    )

    @OptionGroup var setup: SetupOptions

    func run() throws {
        let (configuration, problems) = setup.read()
        for (name, value) in configuration.inForce { print("\(name)=\(value)") }
        var complaints = problems.map(\.line)
        var isWrong = problems.contains(where: \.isError)
        do { _ = try configuration.fleet.makeTier() } catch {
            complaints += error.complaints.map { "error: \($0)" }
            isWrong = true
        }
        complain(complaints)
        if isWrong { throw ExitCode(1) }
        print("Formats read: \(ImageContentType.readable.map(\.name).joined(separator: ", "))")
        print("Formats written: \(ImageContentType.writable.map(\.name).joined(separator: ", "))")
        try configuration.isolateDecoders()
        print("Decoders: \(DecodingIsolation.summary(of: ImageDecodingLimits.default.isolation))")
    }
}
