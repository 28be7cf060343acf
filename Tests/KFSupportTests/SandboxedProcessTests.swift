// Sandboxed processes with real programs: their input and output, their limits, and programs that misbehave.

import Foundation
import KFSupport
import Testing

@Suite(.tags(.processes)) struct SandboxedProcessTests {
    private func run(
        _ program: String,
        _ arguments: String...,
        input: Data = Data(),
        companion: String? = nil,
        memory: Int = 1 << 30,
        seconds: TimeInterval = 60,
        output: Int = 1 << 26
    ) throws -> SandboxedProcess.Outcome {
        let limits = SandboxedProcess.Limits(memory: memory, seconds: seconds, output: output)
        return try input.withUnsafeBytes { bytes in
            try SandboxedProcess(program, limits: limits).run(bytes, arguments: arguments, companion: companion)
        }
    }

    @Test("A program reads all of its input, and all of its output is returned", arguments: [0, 1, 10_000_000])
    func inputAndOutput(count: Int) throws {
        let input = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let outcome = try run("cat", input: input)
        #expect(outcome.output == input && outcome.code == 0 && outcome.standardError.isEmpty)
    }

    @Test("Standard error, exit codes and signals are reported") func errorsAndExitCodes() throws {
        let outcome = try run("sh", "-c", "echo out; echo wrong >&2; exit 7")
        #expect(outcome.output == Data("out\n".utf8) && outcome.standardError == "wrong\n" && outcome.code == 7)
        #expect(try run("sh", "-c", "kill -SEGV $$").code == -SIGSEGV)
    }

    @Test("A program that closes its input without reading it does no harm") func unreadInput() throws {
        // Writing to a program that has ended would raise SIGPIPE here.
        let outcome = try run("sh", "-c", "exec <&-; echo done", input: Data(count: 50_000_000))
        #expect(outcome.output == Data("done\n".utf8) && outcome.code == 0)
    }

    @Test("Of a long standard error the first kilobytes are kept") func longStandardError() throws {
        let outcome = try run("sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo done")
        #expect(outcome.standardError == String(repeating: "x", count: 4096) && outcome.output == Data("done\n".utf8))
    }

    @Test("A program that is not installed is an error of its own") func missingProgram() {
        #expect(throws: SandboxedProcess.Failure.notFound) { try run("kingfisher-has-no-such-program") }
    }

    @Test(
        "A program that takes too long is killed",
        arguments: [
            "exec sleep 1000", "exec <&- >&- 2>&-; exec sleep 1000", "while :; do :; done",
        ]
    )
    func timeLimit(script: String) throws {
        #expect(throws: SandboxedProcess.Failure.tookTooLong) {
            try run("sh", "-c", script, seconds: 0.2, output: .max)
        }
    }

    @Test("Output beyond the limit is cut off") func outputLimit() throws {
        let outcome = try run("cat", "/dev/zero", output: 100_000)
        #expect(outcome.output == Data(count: 100_000) && outcome.isTruncated)
        #expect(try !run("head", "-c", "100000", "/dev/zero", output: 100_000).isTruncated)
    }

    @Test("Memory is limited") func memoryLimit() throws {
        // The limit holds from when the program receives its input, and for children that it starts then.
        let script = "cat >/dev/null; export LC_ALL=C; head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"
        let input = Data("begin".utf8)
        #expect(try run("sh", "-c", script, input: input).output == Data("300000000\n".utf8))
        let outcome = try run("sh", "-c", script, input: input, memory: 50 << 20)
        #expect(outcome.output != Data("300000000\n".utf8) && outcome.standardError.contains("memory"))
    }

    @Test("A program can open the companion file") func companionFile() throws {
        let outcome = try run("cat", "/proc/self/fd/3", companion: "a style")
        #expect(outcome.output == Data("a style".utf8))
    }

    @Test("A program inherits no open file and no foreign environment variable") func inheritance() async {
        // In a process of its own, whose environment may be changed.
        await #expect(processExitsWith: .success) {
            setenv("KINGFISHER_SECRET", "hidden", 1)
            // Without O_CLOEXEC on purpose, as other code may open its files.
            _ = open("/dev/null", O_RDONLY)
            let program = SandboxedProcess("sh", limits: .init(memory: 1 << 30, seconds: 60, output: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let outcome = try program.run(nothing, arguments: ["-c", "echo /proc/self/fd/*; env"])
            let text = String(decoding: outcome.output, as: UTF8.self)
            // The fourth is the folder that is being listed.
            #expect(text.hasPrefix("/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"))
            #expect(text.contains("PATH=") && !text.contains("hidden"))
        }
    }

    @Test("Programs run where SIGCHLD is ignored and the standard descriptors are closed") func ignoredChildSignal()
        async
    {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            signal(SIGPIPE, SIG_DFL)
            for file: Int32 in 0...2 { close(file) }
            // The output of this process must not reach the program.
            Thread.detachNewThread {
                while true { write(1, "of the host\n", 12) }
            }
            let program = SandboxedProcess("tr", limits: .init(memory: 1 << 30, seconds: 60, output: 1 << 20))
            for _ in 0..<20 {
                let input = Data("ours".utf8) + Data(count: 1 << 20)
                let outcome = try input.withUnsafeBytes { try program.run($0, arguments: ["-d", "\\0"]) }
                guard outcome.output == Data("ours".utf8), outcome.code == 0 else { exit(1) }
            }
        }
    }

    @Test("A program that cannot be limited does not run") func unlimitedProgram() async throws {
        // Only root can start a process as one user and limit it as another.
        guard getuid() == 0 else { return }
        await #expect(processExitsWith: .success) {
            guard seteuid(65534) == 0 else { exit(2) }
            let program = SandboxedProcess("cat", limits: .init(memory: 1 << 30, seconds: 60, output: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            do { _ = try program.run(nothing, arguments: []) } catch SandboxedProcess.Failure.notStarted(EPERM) {
                exit(0)
            }
            exit(1)
        }
    }

    @Test("Lower limits stay") func lowerLimits() async {
        await #expect(processExitsWith: .success) {
            // This is more than the thread sanitizer allocates.
            var limit = rlimit(rlim_cur: 1 << 50, rlim_max: 1 << 52)
            guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else { exit(2) }
            let program = SandboxedProcess("sh", limits: .init(memory: 1 << 51, seconds: 60, output: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let outcome = try program.run(nothing, arguments: ["-c", "ulimit -d"])
            guard outcome.output == Data("1099511627776\n".utf8) else { exit(1) }
        }
    }

    @Test("Children of a program that hold its output open are not waited for") func grandchildren() throws {
        let outcome = try run("sh", "-c", "sleep 30 & echo done; exit 3", seconds: 29)
        #expect(outcome.output == Data("done\n".utf8) && outcome.code == 3)
    }

    @Test("Environment variables are set") func variables() throws {
        let program = SandboxedProcess(
            "sh",
            limits: .init(memory: 1 << 30, seconds: 60, output: 1 << 20),
            variables: ["KINGFISHER=bird"]
        )
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(try program.run(nothing, arguments: ["-c", "echo $KINGFISHER"]).output == Data("bird\n".utf8))
    }
}
