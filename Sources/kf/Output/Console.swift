// The tool's output: standard output, standard error and the progress bar between them. It is the one place where texts
// are made harmless to terminals.

import Foundation
import KFSupport

/// The output of the tool: results on standard output, everything else on standard error.
///
/// A line never lands in the middle of another one or of the progress bar, and stays one line without control
/// characters whatever it holds. Safe from any thread.
final class Console: Sendable {
    private struct State {
        var bar: ProgressBar?
        var drawn = ""
        var lastDrawn = ContinuousClock.now - .seconds(1)
    }

    /// The error number of the process's first failed write to standard output.
    private static let outputProblem = Locked<Int32?>(nil)

    private let state = Locked(State())
    private let isQuiet: Bool
    private let showsProgress: Bool
    private let results: Int32

    /// - Parameters:
    ///   - isQuiet: Whether only errors are printed.
    ///   - results: The descriptor for results; not standard output when an image's bytes go there.
    init(isQuiet: Bool = false, results: Int32 = STDOUT_FILENO) {
        self.isQuiet = isQuiet
        self.results = results
        showsProgress = !isQuiet && isatty(STDERR_FILENO) == 1
    }

    /// Prints a result; a quiet console prints it only if `always` is set.
    func print(_ line: String, always: Bool = false) { print(lines: [line], always: always) }

    /// Prints a result of several lines, with nothing between them.
    func print(lines: [String], always: Bool = false) {
        guard always || !isQuiet else { return }
        writeLines(lines, to: results)
    }

    /// Prints a line for programs, in which names keep every byte; a terminal is shown the harmless form.
    func print(record: String) {
        guard isatty(results) != 1 else { return print(record) }
        let bytes = record.systemName.dropLast().map(UInt8.init(bitPattern:)) + [UInt8(ascii: "\n")]
        write(bytes, to: results)
    }

    /// Prints an error after the tool's name, as scripts expect it; further lines explain the first one.
    func error(_ message: String, explanation: [String] = []) {
        writeLines(["kf: \(message)"] + explanation, to: STDERR_FILENO)
    }

    /// Prints a warning: something worked less well than it should have.
    func warning(_ message: String) {
        guard !isQuiet else { return }
        writeLines(["kf: warning: \(message)"], to: STDERR_FILENO)
    }

    /// Shows the bar, on a terminal, as often as a person can follow.
    func show(_ bar: ProgressBar) {
        guard showsProgress else { return }
        state.withLock { state in
            state.bar = bar
            let now = ContinuousClock.now
            guard now - state.lastDrawn > .milliseconds(80) || bar.isComplete else { return }
            state.lastDrawn = now
            Self.draw(&state)
        }
    }

    /// Erases the bar.
    func endProgress() {
        state.withLock { state in
            Self.erase(&state)
            state.bar = nil
        }
    }

    /// Erases the bar, and removes files that are not whole, before an interruption ends the process.
    ///
    /// For every command that writes files. In force until its `finish()`.
    func tidyingOnInterruption() -> Interruption {
        Interruption { [self] in
            // Where no bar is shown, nothing waits for a reader that may have stopped reading.
            if showsProgress { endProgress() }
        }
    }

    private func writeLines(_ lines: [String], to descriptor: Int32) {
        write(Array(lines.map { $0.visible + "\n" }.joined().utf8), to: descriptor)
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) {
        state.withLock { state in
            Self.erase(&state)
            Self.write(bytes, to: descriptor)
            if showsProgress { Self.draw(&state) }
        }
    }

    private static func draw(_ state: inout State) {
        guard let bar = state.bar else { return }
        let line = bar.line(width: terminalWidth())
        write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
        state.drawn = line
    }

    private static func erase(_ state: inout State) {
        guard !state.drawn.isEmpty else { return }
        write(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
        state.drawn = ""
    }

    private static func terminalWidth() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        guard !FileDescriptorOutput.write(bytes, to: descriptor) else { return }
        let problem = errno
        guard descriptor == STDOUT_FILENO else { return }
        outputProblem.withLock { $0 = $0 ?? problem }
    }

    /// The failure to write results to standard output; nil when all arrived, or when the reader has closed it.
    static var failureOfOutput: Failure? {
        guard let problem = outputProblem.withLock({ $0 }), problem != EPIPE else { return nil }
        return .cannotWrite("standard output", problem)
    }
}
