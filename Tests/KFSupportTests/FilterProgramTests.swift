// Real programs: what they answer, and what becomes of those that do not behave.

import Foundation
import KFSupport
import Testing

@Suite struct FilterProgramTests {
    private func run(
        _ program: String,
        _ arguments: String...,
        input: Data = Data(),
        companion: String? = nil,
        memory: Int = 1 << 30,
        seconds: TimeInterval = 60,
        answer: Int = 1 << 26
    ) throws -> FilterProgram.Answer {
        let limits = FilterProgram.Limits(memory: memory, seconds: seconds, answer: answer)
        return try input.withUnsafeBytes { bytes in
            try FilterProgram(program, limits: limits).run(bytes, arguments: arguments, companion: companion)
        }
    }

    @Test(arguments: [0, 1, 10_000_000]) func whatGoesInComesOut(count: Int) throws {
        let input = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let answer = try run("cat", input: input)
        #expect(answer.output == input && answer.code == 0 && answer.complaints.isEmpty)
    }

    @Test func errorsAndExitCodesAreTold() throws {
        let answer = try run("sh", "-c", "echo out; echo wrong >&2; exit 7")
        #expect(answer.output == Data("out\n".utf8) && answer.complaints == "wrong\n" && answer.code == 7)
        #expect(try run("sh", "-c", "kill -SEGV $$").code == -SIGSEGV)
    }

    @Test func aProgramThatReadsNothingHarmsNobody() throws {
        // Writing to what has ended would raise SIGPIPE here.
        let answer = try run("sh", "-c", "exec <&-; echo done", input: Data(count: 50_000_000))
        #expect(answer.output == Data("done\n".utf8) && answer.code == 0)
    }

    @Test func endlessComplaintsAreReadAndForgotten() throws {
        let answer = try run("sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo done")
        #expect(answer.complaints == String(repeating: "x", count: 4096) && answer.output == Data("done\n".utf8))
    }

    @Test func whatIsMissingIsTold() {
        #expect(throws: FilterProgram.Failure.notFound) { try run("kingfisher-has-no-such-program") }
    }

    @Test(arguments: [
        "exec sleep 1000", "exec <&- >&- 2>&-; exec sleep 1000", "while :; do :; done",
    ])
    func programsThatDoNotEndAreEnded(script: String) throws {
        #expect(throws: FilterProgram.Failure.tookTooLong) {
            try run("sh", "-c", script, seconds: 0.2, answer: .max)
        }
    }

    @Test func anAnswerThatIsTooLongIsCut() throws {
        let answer = try run("cat", "/dev/zero", answer: 100_000)
        #expect(answer.output == Data(count: 100_000) && answer.isCut)
        #expect(try !run("head", "-c", "100000", "/dev/zero", answer: 100_000).isCut)
    }

    @Test func memoryIsLimited() throws {
        // The limit holds from when the program finds its input, and is for children that it starts then.
        let script = "cat >/dev/null; export LC_ALL=C; head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"
        let input = Data("begin".utf8)
        #expect(try run("sh", "-c", script, input: input).output == Data("300000000\n".utf8))
        let answer = try run("sh", "-c", script, input: input, memory: 50 << 20)
        #expect(answer.output != Data("300000000\n".utf8) && answer.complaints.contains("memory"))
    }

    @Test func theCompanionCanBeOpened() throws {
        let answer = try run("cat", "/proc/self/fd/3", companion: "a style")
        #expect(answer.output == Data("a style".utf8))
    }

    @Test func programsInheritNoFilesAndNoSecrets() async {
        // In a process of its own, whose environment may be changed.
        await #expect(processExitsWith: .success) {
            setenv("KINGFISHER_SECRET", "hidden", 1)
            // Without O_CLOEXEC on purpose: as others open their files.
            _ = open("/dev/null", O_RDONLY)
            let program = FilterProgram("sh", limits: .init(memory: 1 << 30, seconds: 60, answer: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let answer = try program.run(nothing, arguments: ["-c", "echo /proc/self/fd/*; env"])
            let text = String(decoding: answer.output, as: UTF8.self)
            // The fourth is the folder that is being listed.
            #expect(text.hasPrefix("/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"))
            #expect(text.contains("PATH=") && !text.contains("hidden"))
        }
    }

    @Test func itRunsWhereChildrenAreNotWaitedForAndNothingIsOpen() async {
        await #expect(processExitsWith: .success) {
            signal(SIGCHLD, SIG_IGN)
            signal(SIGPIPE, SIG_DFL)
            for file: Int32 in 0...2 { close(file) }
            // What is printed meanwhile gets to nobody.
            Thread.detachNewThread {
                while true { write(1, "of the host\n", 12) }
            }
            let program = FilterProgram("tr", limits: .init(memory: 1 << 30, seconds: 60, answer: 1 << 20))
            for _ in 0..<20 {
                let input = Data("ours".utf8) + Data(count: 1 << 20)
                let answer = try input.withUnsafeBytes { try program.run($0, arguments: ["-d", "\\0"]) }
                guard answer.output == Data("ours".utf8), answer.code == 0 else { exit(1) }
            }
        }
    }

    @Test func whatCannotBeLimitedDoesNotRun() async throws {
        // The check is whose process it is, which nobody but root can make another's.
        guard getuid() == 0 else { return }
        await #expect(processExitsWith: .success) {
            guard seteuid(65534) == 0 else { exit(2) }
            let program = FilterProgram("cat", limits: .init(memory: 1 << 30, seconds: 60, answer: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            do { _ = try program.run(nothing, arguments: []) } catch FilterProgram.Failure.notStarted(EPERM) {
                exit(0)
            }
            exit(1)
        }
    }

    @Test func lowerLimitsStay() async {
        await #expect(processExitsWith: .success) {
            // More than the thread sanitizer takes.
            var limit = rlimit(rlim_cur: 1 << 50, rlim_max: 1 << 52)
            guard setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0 else { exit(2) }
            let program = FilterProgram("sh", limits: .init(memory: 1 << 51, seconds: 60, answer: 1 << 20))
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            let answer = try program.run(nothing, arguments: ["-c", "ulimit -d"])
            guard answer.output == Data("1099511627776\n".utf8) else { exit(1) }
        }
    }

    @Test func childrenThatHoldTheEndsAreNotWaitedFor() throws {
        let answer = try run("sh", "-c", "sleep 30 & echo done; exit 3", seconds: 29)
        #expect(answer.output == Data("done\n".utf8) && answer.code == 3)
    }

    @Test func variablesAreSet() throws {
        let program = FilterProgram(
            "sh",
            limits: .init(memory: 1 << 30, seconds: 60, answer: 1 << 20),
            variables: ["KINGFISHER=bird"]
        )
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(try program.run(nothing, arguments: ["-c", "echo $KINGFISHER"]).output == Data("bird\n".utf8))
    }
}
