// Runs one of the programs of this package on a display that exists in memory only.

import Foundation
import KFSupport

/// A program that has been built with the tests.
enum Program {
    /// What a program is shown on.
    enum Display {
        case none
        /// Nothing but the display: windows have the size they want, or that of the display.
        case plain(width: Int, height: Int)
        /// With a window manager, and keys from the standard input; the pixels are in a folder.
        case managed(width: Int, height: Int, memory: URL)

        static let ordinary = plain(width: 1024, height: 768)
    }

    struct Run: Sendable {
        let status: Int32
        /// The texts of standard output and standard error.
        let output: String
    }

    /// Runs a program to its end, ten minutes at most; with `bus`, in a session that has a message bus, by which screen
    /// readers reach it.
    static func run(
        _ name: String,
        _ arguments: [String],
        display: Display = .ordinary,
        bus: Bool = false,
        environment: [String: String] = [:]
    ) async throws -> Run {
        let process = process(name, arguments, display: display, bus: bus, environment: environment)
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        return await WorkExecutor.io.run {
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return Run(status: process.terminationStatus, output: output)
        }
    }

    /// Runs its arguments without the blocked signals of the test's thread: programs and daemons are ended by signals.
    private static let unblocking = """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(sys.argv[1], sys.argv[1:])
        """

    /// Shows a program to a window manager that gives it all of the screen, and presses the keys that are read.
    private static let managing = """
        matchbox-window-manager -use_titlebar no & manager=$!
        "$@" & program=$!
        while read -r keys; do xdotool key "$keys"; done
        kill $program $manager
        """

    /// Starts a message bus with a folder of its own: screen readers' sockets are there, and two sessions at once would
    /// take each other's.
    private static let onBus = """
        export XDG_RUNTIME_DIR="$(mktemp -d)"
        dbus-run-session -- "$@"
        status=$?
        rm -rf "$XDG_RUNTIME_DIR"
        exit $status
        """

    /// Where a program is: beside the tests.
    static func path(of name: String) -> String {
        Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path ?? name
    }

    static func process(
        _ name: String,
        _ arguments: [String],
        display: Display,
        bus: Bool = false,
        environment: [String: String] = [:]
    ) -> Process {
        let process = Process()
        var variables = ProcessInfo.processInfo.environment.filter { !["DISPLAY", "WAYLAND_DISPLAY"].contains($0.key) }
        // A warning of GLib or GTK ends the program.
        let settings = [
            "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "G_DEBUG": "fatal-warnings",
        ]
        variables.merge(settings) { $1 }
        // Without a bus, GTK would warn that it cannot reach screen readers.
        if !bus { variables["GTK_A11Y"] = "test" }
        variables.merge(environment) { $1 }
        process.environment = variables
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let program = path(of: name)
        let session = bus ? ["sh", "-c", onBus, "sh"] : []
        let command: [String]
        switch display {
        case .none: command = [program]
        case .plain(let width, let height): command = server(width, height, "") + [program]
        case .managed(let width, let height, let memory):
            command = server(width, height, "-fbdir \(memory.path)") + ["sh", "-c", managing, "sh", program]
        }
        process.arguments = ["python3", "-c", unblocking, "timeout", "600"] + session + command + arguments
        return process
    }

    // An X server that begins anew after its last client tells xvfb-run once more that it is ready. While it cleans up,
    // xvfb-run then takes the program's failure for one of its own, and leaves the server running, which keeps a socket
    // open that `waitUntilExit` waits for.
    private static func server(_ width: Int, _ height: Int, _ options: String) -> [String] {
        ["xvfb-run", "-a", "-s", "-screen 0 \(width)x\(height)x24 -noreset -nolisten tcp \(options)"]
    }
}
