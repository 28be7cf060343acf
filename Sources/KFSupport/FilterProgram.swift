// A program of the system that turns bytes into bytes, run within limits. Knows nothing of what the bytes are.

import CKFLinux
package import Foundation

/// A program that reads all of its input and then writes an answer.
///
/// It runs in a process of its own, so what it does to itself does not happen to this one: it may crash, take memory
/// without end, or never come back. It inherits no open file, and of the environment only what programs need to find their
/// libraries, fonts and language.
package struct FilterProgram: Sendable {
    /// What a run may cost.
    package struct Limits: Sendable {
        /// The most memory of its own in bytes; code and files it maps do not count.
        package var memory: Int
        /// The most time in seconds, from the start to the end of the answer.
        package var seconds: TimeInterval
        /// The most bytes of an answer; what comes then is not read, and the program is ended.
        package var answer: Int

        /// Limits of memory in bytes, of time in seconds, and of the answer's bytes.
        package init(memory: Int, seconds: TimeInterval, answer: Int) {
            (self.memory, self.seconds, self.answer) = (memory, seconds, answer)
        }
    }

    /// What came of a run.
    package struct Answer: Sendable {
        /// What it wrote, up to the limit.
        package var output = Data()
        /// What it wrote as errors, the first kilobytes of it.
        package var complaints = ""
        /// Its exit code; negative, the number of the signal that ended it.
        ///
        /// 0 also when the output was cut off, or somebody else in this process asked for the code before.
        package var code: Int32 = 0
        /// Whether it wrote more than it may.
        package var isCut = false
    }

    /// Why there is no answer.
    package enum Failure: Error, Equatable {
        /// There is no program of that name in the `PATH`.
        case notFound
        /// It could not be started, or not be limited; the number of the error.
        case notStarted(Int32)
        /// It took longer than it may, and was ended.
        case tookTooLong
    }

    private let name: String
    private let limits: Limits
    private let variables: [String]

    /// The program of this name, looked for in the `PATH`.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - limits: What a run may cost.
    ///   - variables: What it finds in its environment besides: `NAME=value`.
    package init(_ name: String, limits: Limits, variables: [String] = []) {
        self.name = name
        self.limits = limits
        self.variables = variables
    }

    /// Runs the program and waits for its answer; blocks the calling thread.
    ///
    /// The limits hold by the time it finds its input, or the input's end; children it started before have none.
    ///
    /// - Parameters:
    ///   - input: What it reads.
    ///   - arguments: What follows its name.
    ///   - companion: A further file, which it may open as `/proc/self/fd/3`.
    /// - Returns: The answer, also of a program that failed or crashed.
    /// - Throws: A ``Failure`` when there is no answer.
    package func run(
        _ input: UnsafeRawBufferPointer,
        arguments: [String],
        companion: String? = nil
    ) throws(Failure) -> Answer {
        var program = kf_program()
        let file = companion.map { text in
            text.utf8CString.withUnsafeBytes { kf_file_in_memory($0.baseAddress, $0.count - 1) }
        }
        if file == -1 { throw .notStarted(errno) }
        let error = Self.withCStrings([name] + arguments) { arguments in
            Self.withCStrings(Self.environment + variables) { environment in
                kf_start_program(arguments, environment, file ?? -1, &program)
            }
        }
        if let file { close(file) }
        guard error == 0 else { throw error == ENOENT ? .notFound : .notStarted(error) }
        // It has nothing to work on yet, so the limits come in time. The clock ends it; that of the processor is for a
        // program whose host has died, and so far beyond that for one busy thread it cannot come first.
        let seconds = UInt64(max(0, min(limits.seconds, 1e9)).rounded(.up)) + 30
        let unbounded = kf_bound_program(program.process, UInt64(max(0, limits.memory)), seconds)
        var exchange = Exchange(program, input, limits)
        defer { exchange.end() }
        guard unbounded == 0 else { throw .notStarted(unbounded) }
        return try exchange.run()
    }

    /// What programs need to know of where they are; nobody's secrets.
    private static var environment: [String] {
        let names: Set = ["PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "LD_LIBRARY_PATH"]
        let beginnings = ["LC_", "XDG_", "FONTCONFIG_"]
        return ProcessInfo.processInfo.environment.compactMap { name, value in
            names.contains(name) || beginnings.contains(where: name.hasPrefix) ? "\(name)=\(value)" : nil
        }
    }

    /// Lends C a list of strings that ends with a null pointer.
    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return body(copies + [nil])
    }
}

/// The give and take with a program that runs.
private struct Exchange {
    private let program: kf_program
    private let limits: FilterProgram.Limits
    private let deadline: SuspendingClock.Instant
    private var rest: Slice<UnsafeRawBufferPointer>
    private var answer = FilterProgram.Answer()
    private var complaints = Data()
    private var openEnds: Set<Int32>
    private var hasEnded = false

    init(_ program: kf_program, _ input: UnsafeRawBufferPointer, _ limits: FilterProgram.Limits) {
        self.program = program
        self.limits = limits
        rest = input[...]
        deadline = .now + .seconds(max(0, min(limits.seconds, 1e9)))
        openEnds = [program.exchange, program.errors]
    }

    /// Gives the input, takes the answer, waits for the end.
    mutating func run() throws(FilterProgram.Failure) -> FilterProgram.Answer {
        if rest.isEmpty { shutdown(program.exchange, Int32(SHUT_WR)) }
        while !openEnds.isEmpty {
            let ends = try waitForEnds()
            for end in ends where end.revents != 0 { serve(end) }
            if answer.output.count > limits.answer { break }
            if ends.isEmpty {
                if hasEnded { break }
                hasEnded = kf_has_ended(program.process, false, &answer.code)
            }
        }
        try waitForExit()
        answer.isCut = answer.output.count > limits.answer
        answer.output = answer.output.prefix(limits.answer)
        answer.complaints = String(decoding: complaints, as: UTF8.self)
        return answer
    }

    /// Ends a program that still runs, and forgets it.
    mutating func end() {
        if !hasEnded { kill(program.process, SIGKILL) }
        // Before waiting: who writes to nobody ends, whatever became of the signal.
        close(program.exchange)
        close(program.errors)
        if !hasEnded { _ = kf_has_ended(program.process, true, &answer.code) }
    }

    /// Sleeps until an end has something, for a moment only.
    ///
    /// Others may hold the ends of a program that has ended: its children, or those of this process that were forked while it
    /// was started. What it wrote before its end is there at once.
    private func waitForEnds() throws(FilterProgram.Failure) -> [pollfd] {
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
    private func milliseconds() throws(FilterProgram.Failure) -> Int32 {
        let left = deadline - .now
        guard left > .zero else { throw .tookTooLong }
        return Int32(
            clamping: left.components.seconds &* 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
        )
    }

    private mutating func serve(_ end: pollfd) {
        if end.revents & Int16(POLLOUT) != 0 { give() }
        guard end.revents & ~Int16(POLLOUT) != 0 else { return }
        let (bytes, isOver) = take(from: end.fd)
        if end.fd == program.exchange {
            answer.output += bytes
        } else {
            complaints += bytes.prefix(4096 - complaints.count)
        }
        if isOver { openEnds.remove(end.fd) }
    }

    private mutating func give() {
        let count = send(
            program.exchange,
            UnsafeRawBufferPointer(rebasing: rest).baseAddress,
            rest.count,
            Int32(MSG_NOSIGNAL)
        )
        if count < 0 {
            // A program that wants no more may still answer.
            if errno != EAGAIN && errno != EINTR { rest = rest.suffix(0) }
            return
        }
        rest = rest.dropFirst(count)
        if rest.isEmpty { shutdown(program.exchange, Int32(SHUT_WR)) }
    }

    private func take(from end: Int32) -> (bytes: Data, isOver: Bool) {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
            count = read(end, buffer.baseAddress, buffer.count)
            initialized = max(0, count)
        }
        return (Data(bytes), count == 0 || count < 0 && errno != EAGAIN && errno != EINTR)
    }

    /// It has closed its ends, so it ends within a moment, unless it is up to something.
    private mutating func waitForExit() throws(FilterProgram.Failure) {
        while openEnds.isEmpty && !hasEnded {
            hasEnded = kf_has_ended(program.process, false, &answer.code)
            if !hasEnded { _ = poll(nil, 0, min(1, try milliseconds())) }
        }
    }
}
