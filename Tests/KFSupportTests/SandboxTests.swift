// Locked processes, which try what is forbidden: as a decoder and as a program of the system, in several surroundings.

import Foundation
import KFSupport
import Testing

@Suite(.tags(.processes)) struct SandboxTests {
    /// What a process tries and how it ends: with 0 when it succeeds, with an error number, or by a negative signal.
    private static let decoder: [String: Int32] = [
        "compute": 0, "read": EACCES, "write": EACCES, "remove": -SIGSYS, "tcp": -SIGSYS, "unix": -SIGSYS,
        "fork": -SIGSYS, "spawn": -SIGSYS, "exec": -SIGSYS, "ptrace": -SIGSYS, "kill": -SIGSYS, "memfd": -SIGSYS,
        "grow": -SIGSYS, "fill": -SIGXFSZ, "mprotect": -SIGSYS, "mmap": -SIGSYS, "limit": -SIGSYS, "signal": -SIGSYS,
        "io_uring": -SIGSYS, "32-bit": -SIGSYS, "abort": -SIGABRT,
    ]
    private static let program: [String: Int32] = [
        "compute": 0, "read": EACCES, "write": ENOSYS, "remove": ENOSYS, "tcp": ENOSYS, "unix": ENOSYS,
        "fork": ENOSYS, "spawn": ENOSYS, "exec": ENOSYS, "ptrace": ENOSYS, "kill": ENOSYS, "memfd": ENOSYS,
        "grow": ENOSYS, "fill": -SIGXFSZ, "limit": ENOSYS, "signal": ENOSYS, "io_uring": ENOSYS, "32-bit": -SIGSYS,
        "abort": -SIGABRT,
    ]
    /// What Landlock alone refuses, and since which version of its ABI.
    private static let files: [(action: String, version: Int, end: Int32)] = [
        ("read", 1, EACCES), ("write", 1, EACCES), ("exec", 1, EACCES), ("tcp", 4, EACCES), ("kill", 6, EPERM),
    ]

    /// Only root can become another user.
    private static let users = getuid() == 0 ? [[], ["user"]] : [[]]

    /// Beside the test bundle.
    private static func checks() throws -> String {
        let me = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let candidates = [me, Bundle.main.bundleURL].map {
            $0.deletingLastPathComponent().appendingPathComponent("kf-sandbox-checks").path
        }
        return try #require(candidates.first(where: FileManager.default.isExecutableFile))
    }

    /// Where the libraries lie that the program is linked with, as any of Swift is: in no folder of the system.
    private static func libraries() throws -> [String] {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps")).readToEnd() ?? Data()
        let lines = String(decoding: maps, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasSuffix("/libswiftCore.so") }),
            let start = line.firstIndex(of: "/")
        else { return [] }
        return ["libraries=\(URL(fileURLWithPath: String(line[start...])).deletingLastPathComponent().path)"]
    }

    private func run(_ words: [String], input: Data = Data()) throws -> SandboxedProcess.Outcome {
        let limits = SandboxedProcess.Limits(memory: 1 << 32, seconds: 60, output: 1 << 20)
        let checks = SandboxedProcess(try Self.checks(), limits: limits)
        return try input.withUnsafeBytes { try checks.run($0, arguments: words) }
    }

    /// The locks in force, and how it ended.
    private func locks(_ words: [String]) throws -> (landlock: Int, seccomp: Int, limits: Int, end: Int32) {
        let outcome = try run(words)
        let numbers = String(decoding: outcome.output, as: UTF8.self).split { !$0.isNumber }.compactMap { Int($0) }
        try #require(numbers.count == 3, "\(words): \(outcome)")
        return (numbers[0], numbers[1], numbers[2], outcome.code)
    }

    /// The version of this machine's Landlock.
    private func landlock() throws -> Int { try locks(["compute"]).landlock }

    @Test(
        "A decoder computes; whatever else it tries fails or ends it, for root and others, in containers and without",
        arguments: users,
        [[], ["container"], ["no-landlock"], ["container", "no-landlock"]]
    )
    func lockedDecoder(user: [String], surroundings: [String]) throws {
        let landlock = surroundings.contains("no-landlock") ? 0 : try landlock()
        for (action, end) in Self.decoder {
            let found = try locks(user + surroundings + [action])
            #expect(found == (landlock, 1, 1, end), "\(action)")
        }
    }

    @Test("A service without capabilities, which may not ask the kernel to drop them, locks itself all the same")
    func hardenedService() throws {
        let user = Self.users.last ?? []
        #expect(try locks(user + ["service", "compute"]) == (try landlock(), 1, 1, 0))
        // Root has some, and is not locked with them.
        if getuid() == 0 { #expect(try run(["service", "compute"]).code == 254) }
    }

    @Test(
        "Where system calls cannot be filtered that is said, and Landlock alone refuses files, TCP and signals",
        arguments: users
    )
    func withoutFilters(user: [String]) throws {
        for (action, version, end) in Self.files {
            let found = try locks(user + ["no-seccomp", action])
            #expect(found.seccomp == 0 && found.limits == 1)
            if found.landlock >= version { #expect(found.end == end, "\(action)") }
        }
    }

    @Test("Where there is neither, that is said, too", arguments: users) func withoutBoth(user: [String]) throws {
        #expect(try locks(user + ["container", "no-landlock", "no-seccomp", "compute"]) == (0, 0, 1, 0))
        #expect(try locks(user + ["no-landlock", "no-seccomp", "fill"]) == (0, 0, 1, -SIGXFSZ))
    }

    @Test("Each lock can be left out") func omittedLocks() throws {
        let landlock = try landlock()
        #expect(try locks(["without=1", "compute"]) == (0, 1, 1, 0))
        #expect(try locks(["without=2", "compute"]) == (landlock, 0, 1, 0))
        #expect(try locks(["without=4", "compute"]) == (landlock, 1, 0, 0))
    }

    @Test("What locked processes fail to do works when they are not locked") func unlockedProcess() throws {
        for (action, end) in Self.decoder where end != 0 && action != "abort" {
            #expect(try locks(["without=7", action]).end != end, "\(action)")
        }
    }

    @Test(
        "A program of the system runs, and has no more rights than a decoder, but to read its files",
        arguments: users,
        [[], ["container"], ["no-landlock"]]
    )
    func lockedProgram(user: [String], surroundings: [String]) throws {
        var expected = Self.program
        // All files of the user stay readable then.
        if try landlock() == 0 || surroundings.contains("no-landlock") { expected["read"] = 0 }
        for (action, end) in expected {
            let words = try user + surroundings + Self.libraries() + ["run", try Self.checks(), "without=7", action]
            #expect(try locks(words).end == end, "\(action)")
        }
    }

    @Test("A program gets its input and arguments; one that is not there is an error") func wholeProgram() throws {
        let outcome = try run(["run", "cat", "-", "/dev/null"], input: Data("as it is".utf8))
        #expect(outcome.output == Data("as it is".utf8))
        let missing = try run(["run", "kingfisher-has-no-such-program"])
        #expect(missing.standardError == "finding it: No such file or directory\n")
    }
}
