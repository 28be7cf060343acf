// `kf-soak ROUNDS DIRECTORY [SEED]`: kills processes that use a cache, and checks the files they leave. This file
// has the order of the steps; the steps and the checks are in the other files of this folder.

import Foundation

/// Rounds in which processes are killed, all in one directory.
@main
struct Soak {
    /// The exit status.
    enum Ending: Int32 {
        case good = 0
        /// An operation or a check failed.
        case failed = 1
        /// The arguments are wrong.
        case usage = 2
        /// The cache returned bytes that were never stored, or old ones.
        case torn = 3
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 4, arguments[0] == "--child", let child = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        {
            try Worker(directory: URL(fileURLWithPath: arguments[1]), seed: seed).run(child: child)
        }
        if arguments.count == 4, arguments[0] == "--writer", let child = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        {
            try Writer(directory: URL(fileURLWithPath: arguments[1])).run(child: child, seed: seed)
        }
        guard (2...3).contains(arguments.count), let rounds = Int(arguments[0]), rounds > 0 else {
            end(.usage, "usage: kf-soak ROUNDS DIRECTORY [SEED]")
        }
        let seed = arguments.count == 3 ? UInt64(arguments[2]) : UInt64(Date().timeIntervalSince1970)
        guard let seed else { end(.usage, "the seed is not a number: \(arguments[2])") }
        try run(rounds: rounds, directory: URL(fileURLWithPath: arguments[1]), seed: seed)
    }

    /// Prints the reason, and ends the process.
    static func end(_ ending: Ending, _ words: String) -> Never {
        FileHandle.standardError.write(Data("kf-soak: \(words)\n".utf8))
        exit(ending.rawValue)
    }

    private static func run(rounds: Int, directory: URL, seed: UInt64) throws {
        print("seed \(seed)")
        var random = Xorshift(seed: seed)
        var verifier = try Verifier(directory: directory)
        for round in 1...rounds {
            if round.isMultiple(of: 4) {
                try letAllEnd(round: round, directory: directory, &random)
                try verifier.verifyLimit(round: round)
            }
            // Every other round two processes share the directory.
            let children = try (0...round % 2).map { child in
                try Child(directory: directory, child: child, seed: UInt64(round))
            }
            for child in children { child.waitUntilReady() }
            try verifier.joinIn(&random)
            usleep(useconds_t(1_000 * (1 + random.next(below: 120))))
            for child in children { child.kill() }
            try verifier.verify(round: round, &random)
        }
        print(
            "\(rounds) rounds, \(verifier.readCount) entries read back, \(verifier.damagedCount) damaged ones noticed,"
                + " \(verifier.leftoverCount) temporary files removed, limit held after \(verifier.limitCount) trims"
        )
    }

    /// Three processes write at the same time, and end when their input is closed.
    private static func letAllEnd(round: Int, directory: URL, _ random: inout Xorshift) throws {
        let writers = try (0..<3).map { child in
            try Child(directory: directory, child: child, seed: UInt64(round), as: "--writer")
        }
        for writer in writers { writer.waitUntilReady() }
        usleep(useconds_t(1_000 * (30 + random.next(below: 200))))
        for writer in writers { writer.closeInput() }
        for writer in writers { writer.waitUntilEnded() }
    }
}

/// A process that uses the cache.
struct Child {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    init(directory: URL, child: Int, seed: UInt64, as role: String = "--child") throws {
        let me = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: me)
        process.arguments = [role, directory.path, String(child), String(seed)]
        process.standardOutput = output
        process.standardInput = input
        try process.run()
    }

    /// Lets the process finish its operations and end.
    func closeInput() { try? input.fileHandleForWriting.close() }

    /// Waits until the process has ended.
    func waitUntilEnded() {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            Soak.end(.failed, "a writer ended with \(process.terminationStatus)")
        }
    }

    /// Waits until the process's threads have started; without output it has ended by itself.
    func waitUntilReady() {
        let words = output.fileHandleForReading.availableData
        if words.isEmpty { Soak.end(.failed, "a child ended before it began") }
    }

    /// Kills the process as the kernel does when memory runs out, and checks that this is how it ended.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else {
            exit(process.terminationStatus == 0 ? Soak.Ending.failed.rawValue : process.terminationStatus)
        }
    }
}
