// The terminal behind standard output: its size, its modes and its replies.

import Foundation
import KFSupport

/// A terminal that is written to and can be queried.
final class Terminal: Sendable {
    private struct State {
        var modes: termios?
        var mayHaveLateReplies = false
    }

    private let descriptor: Int32
    private let state: Locked<State>

    /// Nil when the descriptor is no terminal, or when this process may not use it now.
    init?(output: Int32 = STDOUT_FILENO) {
        var name = [CChar](repeating: 0, count: 256)
        guard isatty(output) == 1, ttyname_r(output, &name, name.count) == 0 else { return nil }
        descriptor = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        // A job in the background would be stopped for touching the modes.
        let group = tcgetpgrp(descriptor)
        var modes = termios()
        guard group == -1 || group == getpgrp(), tcgetattr(descriptor, &modes) == 0 else {
            close(descriptor)
            return nil
        }
        state = Locked(State(modes: modes))
    }

    deinit {
        restore()
        close(descriptor)
    }

    /// Turns off echo and line editing until ``restore()``; Ctrl-C still interrupts.
    func disableEcho() {
        guard var modes = state.withLock({ $0.modes }) else { return }
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    /// Restores the modes until ``disableEcho()`` is called again.
    func suspend() {
        guard var modes = state.withLock({ $0.modes }) else { return }
        tcsetattr(descriptor, TCSANOW, &modes)
    }

    /// Restores the modes; safe from any thread, and more than once.
    func restore() {
        let (modes, isLate) = state.withLock { state in
            defer { state.modes = nil }
            return (state.modes, state.mayHaveLateReplies)
        }
        guard var modes else { return }
        // Late replies must not appear as input at the prompt.
        tcsetattr(descriptor, isLate ? TCSAFLUSH : TCSANOW, &modes)
    }

    /// The size of the terminal.
    static func size(of output: Int32 = STDOUT_FILENO) -> TerminalSize {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(rows: isatty(output) == 1 ? 24 : nil)
        }
        let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
        let cell = (width: Int(size.ws_xpixel) / columns, height: Int(size.ws_ypixel) / rows)
        return TerminalSize(columns: columns, rows: rows, cell: cell.width > 0 && cell.height > 0 ? cell : nil)
    }

    /// The time limit of replies: half a second, or the seconds in `KF_TERMINAL_PATIENCE`, an hour at most.
    private static var replyTimeout: Duration {
        let text = ProcessInfo.processInfo.environment["KF_TERMINAL_PATIENCE"]
        guard let seconds = text.flatMap(Double.init), (0...3600).contains(seconds) else { return .milliseconds(500) }
        return .seconds(seconds)
    }

    /// Asks the terminal what it can draw, and waits for its replies.
    ///
    /// Terminals that would print the question are not asked.
    func bestProtocol() async -> ShowProtocol {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        guard !["", "dumb", "linux"].contains(kind) else { return .blocks }
        return await WorkExecutor.io.run { () async -> ShowProtocol in
            FileDescriptorOutput.write(Array(TerminalReply.questions.utf8), to: self.descriptor)
            return self.replies(until: .now + Self.replyTimeout).best
        }
    }

    private func replies(until deadline: ContinuousClock.Instant) -> TerminalReply {
        var reply = TerminalReply()
        var buffer = [UInt8](repeating: 0, count: 256)
        while !reply.isComplete {
            let left = Int32((ContinuousClock.now.duration(to: deadline) / .milliseconds(1)).rounded(.up))
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = left > 0 ? poll(&wait, 1, left) : 0
            if ready < 0, errno == EINTR { continue }
            let count = ready > 0 ? read(descriptor, &buffer, buffer.count) : 0
            guard count > 0 else {
                state.withLock { $0.mayHaveLateReplies = true }
                break
            }
            reply.add(buffer[..<count])
        }
        return reply
    }
}
