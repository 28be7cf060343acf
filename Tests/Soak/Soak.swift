// `kf-soak ROUNDS DIRECTORY [SEED]`: kills processes at work in a cache, and looks at what they leave. Knows the order of
// things; what is done and what must hold is in the files beside this one.

import Foundation

/// Rounds of killing, all at one directory.
@main
struct Soak {
    /// How the process ends.
    enum Ending: Int32 {
        case good = 0
        /// Something failed that must not fail.
        case failed = 1
        /// Called with nonsense.
        case usage = 2
        /// The cache returned bytes that were never stored, or old ones.
        case torn = 3
    }

    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count == 4, arguments[0] == "--child", let child = Int(arguments[2]),
            let seed = UInt64(arguments[3])
        {
            try Tormentor(directory: URL(fileURLWithPath: arguments[1]), seed: seed).run(child: child)
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

    /// Says why, and ends.
    static func end(_ ending: Ending, _ words: String) -> Never {
        FileHandle.standardError.write(Data("kf-soak: \(words)\n".utf8))
        exit(ending.rawValue)
    }

    private static func run(rounds: Int, directory: URL, seed: UInt64) throws {
        print("seed \(seed)")
        var random = Xorshift(seed: seed)
        var judge = try Judge(directory: directory)
        for round in 1...rounds {
            if round.isMultiple(of: 4) {
                try letAllEnd(round: round, directory: directory, &random)
                try judge.judgeLimit(round: round)
            }
            // Every other round two processes share the directory.
            let children = try (0...round % 2).map { child in
                try Child(directory: directory, child: child, seed: UInt64(round))
            }
            for child in children { child.waitUntilReady() }
            try judge.joinIn(&random)
            usleep(useconds_t(1_000 * (1 + random.next(below: 120))))
            for child in children { child.kill() }
            try judge.judge(round: round, &random)
        }
        print(
            "\(rounds) rounds, \(judge.readCount) entries read back, \(judge.damagedCount) damaged ones noticed,"
                + " \(judge.leftoverCount) temporary files removed, \(judge.limitCount) times the limit held after a trim"
        )
    }

    /// Three processes write at the same time, and end when they are told to.
    private static func letAllEnd(round: Int, directory: URL, _ random: inout Xorshift) throws {
        let writers = try (0..<3).map { child in
            try Child(directory: directory, child: child, seed: UInt64(round), as: "--writer")
        }
        for writer in writers { writer.waitUntilReady() }
        usleep(useconds_t(1_000 * (30 + random.next(below: 200))))
        for writer in writers { writer.tellToEnd() }
        for writer in writers { writer.waitUntilEnded() }
    }
}

/// A process at work in the cache.
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

    /// Lets it end what it is at.
    func tellToEnd() { try? input.fileHandleForWriting.close() }

    /// Until it has.
    func waitUntilEnded() {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            Soak.end(.failed, "a writer ended with \(process.terminationStatus)")
        }
    }

    /// Until its threads have started; it has ended by itself if it says nothing.
    func waitUntilReady() {
        let words = output.fileHandleForReading.availableData
        if words.isEmpty { Soak.end(.failed, "a child ended before it began") }
    }

    /// Kills it as the kernel does when memory runs out, and makes sure that this is what it died of.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else {
            exit(process.terminationStatus == 0 ? Soak.Ending.failed.rawValue : process.terminationStatus)
        }
    }
}
