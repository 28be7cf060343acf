// A program of the system that turns bytes into bytes, run within limits.

import CKFLinux
package import Foundation

/// A program that reads all of its input and then writes its output.
///
/// It runs in a process of its own, so that it does no harm to this one when it crashes, takes memory without end or
/// never ends. It inherits no open file, and of the environment only what programs need to find their libraries, fonts
/// and language. With a decoder it is locked, too: it can read the system's files and fonts, and change or reach
/// nothing.
///
/// By `posix_spawn`, `prlimit` and `poll`: Foundation's `Process` and swift-subprocess cannot limit memory on Linux,
/// and want a run loop or an async caller where decoding is a plain call.
package struct SandboxedProcess: Sendable {
    /// The most a run may cost.
    package struct Limits: Sendable {
        /// The most memory of its own in bytes; code and files it maps do not count.
        package var memory: Int
        /// The most time in seconds, from the start to the end of the output.
        package var seconds: TimeInterval
        /// The most bytes of output; what exceeds them is not read, and the program is killed.
        package var output: Int

        /// Limits of memory in bytes, of time in seconds, and of the output in bytes.
        package init(memory: Int, seconds: TimeInterval, output: Int) {
            (self.memory, self.seconds, self.output) = (memory, seconds, output)
        }
    }

    /// The result of a run.
    package struct Outcome: Sendable {
        /// Its standard output, up to the limit.
        package var output = Data()
        /// Its standard error, the first kilobytes of it.
        package var standardError = ""
        /// Its exit code or, negative, the number of the signal that ended it.
        ///
        /// 0 also when the output was truncated, or when other code of this process collected the exit code before.
        package var code: Int32 = 0
        /// Whether it wrote more than the limit.
        package var isTruncated = false
    }

    /// Why a run has no outcome.
    package enum Failure: Error, Equatable {
        /// There is no program of that name in the `PATH`.
        case notFound
        /// It could not be started, or not be limited; the error number.
        case notStarted(Int32)
        /// It took longer than the limit, and was killed.
        case tookTooLong
    }

    /// The first argument of a decoder that is to lock itself and become a program: the one that the others name.
    package static let lockedRun = "--run-locked"
    /// What such a decoder writes to standard error when it cannot, before the reason; it ends with the error number.
    package static let lockedRunFailure = "kf-decoder: cannot run the program: "

    private let name: String
    private let limits: Limits
    private let variables: [String]
    private let decoder: String?

    /// A program by its name, which is looked for in the `PATH`.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - limits: The most a run may cost.
    ///   - variables: More variables of its environment: `NAME=value`.
    ///   - decoder: The path of the decoder program that locks it; nil: nothing does.
    package init(_ name: String, limits: Limits, variables: [String] = [], lockedBy decoder: String? = nil) {
        self.name = name
        self.limits = limits
        self.variables = variables
        self.decoder = decoder
    }

    /// Runs the program and waits for its end; blocks the calling thread.
    ///
    /// The limits hold by the time its input, or the end of it, arrives; children it started before have none.
    ///
    /// - Parameters:
    ///   - input: The bytes that it reads.
    ///   - arguments: The arguments after its name.
    ///   - companion: A further file, which it may open as `/proc/self/fd/3`.
    /// - Returns: The outcome, also of a program that failed or crashed.
    /// - Throws: A ``Failure`` when there is no outcome.
    package func run(
        _ input: UnsafeRawBufferPointer,
        arguments: [String],
        companion: String? = nil
    ) throws(Failure) -> Outcome {
        var program = kf_program()
        let file = companion.map { text in
            text.utf8CString.withUnsafeBytes { kf_file_in_memory($0.baseAddress, $0.count - 1) }
        }
        if file == -1 { throw .notStarted(errno) }
        let words = (decoder.map { [$0, Self.lockedRun] } ?? []) + [name] + arguments
        let error = withCStrings(words) { arguments in
            withCStrings(Self.environment + variables) { environment in
                kf_start_program(arguments, environment, file ?? -1, &program)
            }
        }
        if let file { close(file) }
        guard error == 0 else { throw error == ENOENT ? .notFound : .notStarted(error) }
        // It has no input yet, so the limits come in time. It is killed when the wall-clock time is over; the limit of
        // processor time is for a program whose host has died, and so large that one busy thread cannot reach it first.
        let seconds = UInt64(max(0, min(limits.seconds, 1e9)).rounded(.up)) + 30
        let unbounded = kf_bound_program(program.process, UInt64(max(0, limits.memory)), seconds)
        var exchange = Exchange(program, input, limits)
        defer { exchange.end() }
        guard unbounded == 0 else { throw .notStarted(unbounded) }
        let outcome = try exchange.run()
        guard decoder != nil, outcome.standardError.hasPrefix(Self.lockedRunFailure) else { return outcome }
        throw outcome.code == ENOENT ? .notFound : .notStarted(outcome.code)
    }

    /// The environment variables that programs need; none that may hold secrets.
    private static var environment: [String] {
        let names: Set = ["PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "LD_LIBRARY_PATH"]
        let beginnings = ["LC_", "XDG_", "FONTCONFIG_"]
        return ProcessInfo.processInfo.environment.compactMap { name, value in
            names.contains(name) || beginnings.contains(where: name.hasPrefix) ? "\(name)=\(value)" : nil
        }
    }
}

/// The exchange of input and output with a running program.
private struct Exchange {
    private let program: kf_program
    private let limits: SandboxedProcess.Limits
    private let deadline: SuspendingClock.Instant
    private var rest: Slice<UnsafeRawBufferPointer>
    private var outcome = SandboxedProcess.Outcome()
    private var standardError = Data()
    private var openEnds: Set<Int32>
    private var hasEnded = false

    init(_ program: kf_program, _ input: UnsafeRawBufferPointer, _ limits: SandboxedProcess.Limits) {
        self.program = program
        self.limits = limits
        rest = input[...]
        deadline = .now + Duration(clampingSeconds: limits.seconds)
        openEnds = [program.exchange, program.errors]
    }

    /// Writes the input, reads the output, waits for the end.
    mutating func run() throws(SandboxedProcess.Failure) -> SandboxedProcess.Outcome {
        if rest.isEmpty { shutdown(program.exchange, Int32(SHUT_WR)) }
        while !openEnds.isEmpty {
            let ends = try waitForEnds()
            for end in ends where end.revents != 0 { serve(end) }
            if outcome.output.count > limits.output { break }
            if ends.isEmpty {
                if hasEnded { break }
                hasEnded = kf_has_ended(program.process, false, &outcome.code)
            }
        }
        try waitForExit()
        outcome.isTruncated = outcome.output.count > limits.output
        outcome.output = outcome.output.prefix(limits.output)
        outcome.standardError = String(decoding: standardError, as: UTF8.self)
        return outcome
    }

    /// Kills a program that still runs, and closes its descriptors.
    mutating func end() {
        if !hasEnded { kill(program.process, SIGKILL) }
        // Before waiting: a program that writes to a closed socket or pipe ends, whatever became of the signal.
        close(program.exchange)
        close(program.errors)
        if !hasEnded { _ = kf_has_ended(program.process, true, &outcome.code) }
    }

    /// Sleeps until a descriptor is ready, for a tenth of a second at most.
    ///
    /// Other processes may hold the descriptors of a program that has ended: its children, or those of this process
    /// that were forked while it was started. What it wrote before its end is there at once.
    private func waitForEnds() throws(SandboxedProcess.Failure) -> [pollfd] {
        var ends = openEnds.map { end in
            let isWriting = end == program.exchange && !rest.isEmpty
            return pollfd(fd: end, events: Int16(POLLIN | (isWriting ? POLLOUT : 0)), revents: 0)
        }
        let left = try milliseconds()
        let count = poll(&ends, nfds_t(ends.count), hasEnded ? 0 : min(100, left))
        guard count >= 0 || errno == EINTR || errno == EAGAIN else { throw .notStarted(errno) }
        return count > 0 ? ends : []
    }

    /// How much time there is, rounded up.
    private func milliseconds() throws(SandboxedProcess.Failure) -> Int32 {
        let left = deadline - .now
        guard left > .zero else { throw .tookTooLong }
        return left.milliseconds
    }

    private mutating func serve(_ end: pollfd) {
        if end.revents & Int16(POLLOUT) != 0 { writeInput() }
        guard end.revents & ~Int16(POLLOUT) != 0 else { return }
        let (bytes, isOver) = readOutput(from: end.fd)
        if end.fd == program.exchange {
            outcome.output += bytes
        } else {
            standardError += bytes.prefix(4096 - standardError.count)
        }
        if isOver { openEnds.remove(end.fd) }
    }

    private mutating func writeInput() {
        let count = send(
            program.exchange,
            UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            rest.count,
            Int32(MSG_NOSIGNAL)
        )
        if count < 0 {
            // A program that has closed its input may still write output.
            if errno != EAGAIN && errno != EINTR { rest = rest.suffix(0) }
            return
        }
        rest = rest.dropFirst(count)
        if rest.isEmpty { shutdown(program.exchange, Int32(SHUT_WR)) }
    }

    private func readOutput(from end: Int32) -> (bytes: Data, isOver: Bool) {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
            count = read(end, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        return (Data(bytes), count == 0 || count < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// Waits for the end of a program that has closed its output, which it may outlive.
    private mutating func waitForExit() throws(SandboxedProcess.Failure) {
        while openEnds.isEmpty && !hasEnded {
            hasEnded = kf_has_ended(program.process, false, &outcome.code)
            if !hasEnded { _ = poll(nil, 0, min(1, try milliseconds())) }
        }
    }
}
