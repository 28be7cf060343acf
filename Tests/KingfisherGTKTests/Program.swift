// Runs one of the programs of this package on a display that exists in memory only.

import Foundation
import KFSupport

/// A program that has been built with the tests.
enum Program {
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
        display: Bool = true,
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

    /// Starts a program, waits until the middle of its window of 640 × 480 points has a colour, red, green and blue, and
    /// ends it; says whether it had within a minute.
    static func shows(_ color: [UInt8], _ name: String, _ arguments: [String]) async throws -> Bool {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = process(name, arguments, frameBuffer: directory)
        try process.run()
        // The display's memory is a file that ends in the pixels, four bytes each, blue first. Without a window manager
        // the window is in the top left corner.
        let screen = directory.appendingPathComponent("Xvfb_screen0")
        let fromTheEnd = (1024 * 768 - (240 * 1024 + 320)) * 4
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        var isShown = false
        while !isShown, clock.now < end, process.isRunning {
            try await clock.sleep(for: .milliseconds(100))
            let pixels = (try? Data(contentsOf: screen)) ?? Data()
            isShown = pixels.count > fromTheEnd && pixels.suffix(fromTheEnd).prefix(3).elementsEqual(color.reversed())
        }
        process.terminate()
        return isShown
    }

    /// Runs its arguments without the blocked signals of the test's thread: programs and daemons are ended by signals.
    private static let unblocking = """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(sys.argv[1], sys.argv[1:])
        """

    private static func process(
        _ name: String,
        _ arguments: [String],
        display: Bool = true,
        bus: Bool = false,
        frameBuffer: URL? = nil,
        environment: [String: String] = [:]
    ) -> Process {
        let program =
            Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path ?? name
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
        let frames = frameBuffer.map { " -fbdir \($0.path)" } ?? ""
        // An X server that begins anew after its last client tells xvfb-run once more that it is ready. While it
        // cleans up, xvfb-run then takes the program's failure for one of its own, and leaves the server running,
        // which keeps a socket open that `waitUntilExit` waits for.
        let screen = ["xvfb-run", "-a", "-s", "-screen 0 1024x768x24 -noreset -nolisten tcp\(frames)"]
        let session = bus ? ["dbus-run-session", "--"] : []
        process.arguments =
            ["python3", "-c", unblocking, "timeout", "600"] + session + (display ? screen : []) + [program] + arguments
        return process
    }
}
