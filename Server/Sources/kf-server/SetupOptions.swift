// What the commands share: options, the configuration, and how they complain.

import ArgumentParser
import Foundation
import KFImageURLs
import KingfisherServer

/// What the commands are told.
struct SetupOptions: ParsableArguments {
    @Flag(help: "Starts without a key on addresses that others reach: whoever reaches them can have anything made.")
    var unsafe = false

    @Flag(help: "Errors say why, and / is a page to try options; not for servers that others reach.")
    var develop = false

    /// The configuration, and what is wrong with it, whether its keys protect it included.
    func read() -> (configuration: ServerConfiguration, problems: [ConfigurationProblem]) {
        let environment = ProcessInfo.processInfo.environment
        var (configuration, problems) = ServerConfiguration.read(environment)
        if !configuration.isProtected {
            let complaint = """
                Without a key whoever reaches \(configuration.bindText) can have any image made. Set KF_KEY and KF_SALT \
                (each as `openssl rand -hex 32` prints it), or KF_BIND=127.0.0.1:8080, or start with --unsafe.
                """
            let problem = ConfigurationProblem(name: "KF_KEY", text: complaint, isError: !unsafe)
            problems.append(SettingNames(environment).asWritten(problem))
        }
        return (configuration, problems)
    }
}

extension ServerConfiguration {
    /// The address as it is set.
    var bindText: String { inForce.first { $0.name == "KF_BIND" }?.value ?? "" }
}

extension ConfigurationProblem {
    /// The line that says it.
    var line: String { "\(isError ? "error" : "warning"): \(name): \(text)" }
}

/// Runs a step of a start; says what is wrong, and ends the program, if there can be none.
func starting<T>(_ step: () throws(InvalidConfiguration) -> T) throws -> T {
    do { return try step() } catch {
        complain(error.complaints.map { "error: \($0)" })
        throw ExitCode(1)
    }
}

/// Writes lines to the standard error.
func complain(_ lines: [String]) {
    FileHandle.standardError.write(Data(lines.map { "kf-server: \($0)\n" }.joined().utf8))
}
