// A pseudo-terminal for tests of `kf show`: it replies to the tool's queries, and keeps the bytes it is sent.

import Foundation
import KFSupport
import Testing

/// The result of a run of the tool in a terminal.
struct TerminalRun: Sendable {
    let status: Int32
    let output: [UInt8]
    /// Whether line mode and echo are as they were.
    let isRestored: Bool
    /// The same while the tool was stopped, if it was.
    var isRestoredWhileStopped: Bool?

    var text: String { String(decoding: output, as: UTF8.self) }
}

/// A terminal of some kind and size.
struct FakeTerminal: Sendable {
    /// The replies of the terminal to queries.
    enum Kind: Sendable {
        /// All replies of kitty.
        case kitty
        /// Attributes that include sixels.
        case sixel
        /// Attributes without sixels.
        case plain
        /// No replies.
        case silent
    }

    var kind: Kind
    var columns: UInt16 = 80
    var rows: UInt16 = 24
    /// The size of a character in pixels; zero is not reported.
    var cell: (width: UInt16, height: UInt16) = (8, 16)
    /// Whether standard error goes to the terminal too.
    var showsErrors = false
    /// The output after which the signal is sent; by default the sequences that hide the cursor and move it back.
    var marks = ["\u{1B}[?25l", "\u{1B}8"]
    /// The signal to send once the marks have been seen.
    ///
    /// After a pause the tool is continued, and interrupted when it has hidden the cursor again.
    var signal: Int32?

    private static let executor = WorkExecutor("kf.terminals", threads: 4)

    /// Runs the tool in the terminal, in a directory.
    func kf(_ place: TestDirectory, _ arguments: String...) async throws -> TerminalRun {
        try await kf(place, arguments)
    }

    /// Runs the tool in the terminal, in a directory.
    func kf(_ place: TestDirectory, _ arguments: [String]) async throws -> TerminalRun {
        let executable = try TestDirectory.executable()
        return try await Self.executor.run { () async throws -> TerminalRun in
            try run(executable, arguments, in: place.directory)
        }
    }

    private func run(_ executable: URL, _ arguments: [String], in directory: URL) throws -> TerminalRun {
        var (master, slave): (Int32, Int32) = (-1, -1)
        var size = winsize(
            ws_row: rows,
            ws_col: columns,
            ws_xpixel: columns * cell.width,
            ws_ypixel: rows * cell.height
        )
        try #require(openpty(&master, &slave, nil, nil, &size) == 0)
        // Reading ends when every copy of the tool's end is closed; a child of another test must not inherit one.
        for end in [master, slave] { try #require(fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
        defer { close(master) }
        let before = modes(of: master)
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = directory
        var environment = TestDirectory.environment.merging(["TERM": "xterm-256color"]) { $1 }
        // A reply comes, however late: this process may not run for a while.
        if kind != .silent { environment["KF_TERMINAL_PATIENCE"] = "120" }
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        process.standardError =
            showsErrors ? FileHandle(fileDescriptor: slave, closeOnDealloc: false) : FileHandle.nullDevice
        try process.run()
        // From here on only the tool has this end open, so reading ends with the tool.
        close(slave)
        var pausedModes: tcflag_t?
        let output = converse(master, process, &pausedModes)
        process.waitUntilExit()
        return TerminalRun(
            status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            output: output,
            isRestored: modes(of: master) == before,
            isRestoredWhileStopped: pausedModes.map { $0 == before }
        )
    }

    /// Reads until nothing more is written, and replies once.
    private func converse(_ master: Int32, _ process: Process, _ pausedModes: inout tcflag_t?) -> [UInt8] {
        var output: [UInt8] = []
        var hasReplied = false
        var hasSignalled = false
        var hasGoneOn = false
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(master, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return output }
            output += buffer[..<count]
            if !hasReplied, output.suffix(200).contains("\u{1B}[c".utf8) {
                hasReplied = true
                for piece in reply { _ = piece.withUnsafeBytes { write(master, $0.baseAddress, $0.count) } }
            }
            if let signal, !hasSignalled, marks.allSatisfy({ output.contains($0.utf8) }) {
                hasSignalled = true
                kill(process.processIdentifier, signal)
            }
            guard signal == SIGTSTP else { continue }
            if pausedModes == nil, output.contains("\u{1B}[?25h".utf8) {
                // Nothing more is written, so there is nothing left to read.
                var state = siginfo_t()
                waitid(P_PID, id_t(process.processIdentifier), &state, WSTOPPED | WEXITED | WNOWAIT)
                pausedModes = modes(of: master)
                kill(process.processIdentifier, SIGCONT)
            }
            if !hasGoneOn, let shown = output.offset(of: "\u{1B}[?25h".utf8), output[shown...].contains("\u{1B}8".utf8)
            {
                hasGoneOn = true
                kill(process.processIdentifier, SIGINT)
            }
        }
    }

    /// Writes replies in pieces, as they may arrive.
    private var reply: [[UInt8]] {
        switch kind {
        case .kitty: ["\u{1B}_Gi=31;", "OK\u{1B}\\\u{1B}[?6", "2c"].map { Array($0.utf8) }
        case .sixel: ["\u{1B}[?62;", "4;22c"].map { Array($0.utf8) }
        case .plain: [Array("\u{1B}[?62;22c".utf8)]
        case .silent: []
        }
    }

    private func modes(of descriptor: Int32) -> tcflag_t {
        var modes = termios()
        tcgetattr(descriptor, &modes)
        return modes.c_lflag
    }
}

extension Collection where Element == UInt8 {
    /// Whether these bytes occur one after the other.
    func contains(_ part: some Collection<UInt8>) -> Bool { offset(of: part) != nil }

    /// The number of bytes before the first occurrence of these, one after the other.
    func offset(of part: some Collection<UInt8>) -> Int? {
        let all = Array(self)
        let part = Array(part)
        guard part.count <= all.count else { return nil }
        return (0...all.count - part.count).first { start in
            all[start] == part.first && all[start..<start + part.count].elementsEqual(part)
        }
    }
}
