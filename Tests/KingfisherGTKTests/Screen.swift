// A display that exists in memory only, with a program on it whose keys are pressed and whose pixels are looked at.

import Foundation

/// A running program and its display, on which a window manager gives each window all of the screen.
final class Screen {
    private let size: (width: Int, height: Int)
    private let process: Process
    private let keys = Pipe()
    /// What the display's memory is in.
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")

    /// Starts a program; to be ended by `end()`.
    init(
        _ name: String,
        _ arguments: [String],
        width: Int = 1024,
        height: Int = 768,
        environment: [String: String] = [:]
    ) throws {
        size = (width, height)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        process = Program.process(
            name,
            arguments,
            display: .managed(width: width, height: height, memory: directory),
            environment: environment
        )
        process.standardInput = keys
        try process.run()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// Presses keys, one after the other, in the words of xdotool: `Right`, `ctrl+c`.
    func press(_ names: String...) {
        guard process.isRunning else { return }  // writing would be a signal
        keys.fileHandleForWriting.write(Data((names.joined(separator: "\n") + "\n").utf8))
    }

    /// Waits until a condition holds for what is seen; says whether it has within a minute.
    func shows(_ condition: (Frame) -> Bool) async throws -> Bool {
        let file = directory.appendingPathComponent("Xvfb_screen0")
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while clock.now < end, process.isRunning {
            if let frame = Frame(display: file, width: size.width, height: size.height), condition(frame) {
                return true
            }
            try await clock.sleep(for: .milliseconds(100))
        }
        return false
    }

    /// Waits until a pixel has a colour; the pointer is in the middle of the screen.
    func shows(_ color: UInt32, atX x: Int, y: Int) async throws -> Bool { try await shows { $0[x, y] == color } }

    /// Ends the program and the display.
    func end() {
        try? keys.fileHandleForWriting.close()
        process.terminate()
    }
}
