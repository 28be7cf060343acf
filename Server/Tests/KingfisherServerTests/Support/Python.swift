// Programs in Python. For the test with a client library.

import Foundation

enum Python {
    /// Whether `imgproxy` of PyPI is installed, or in `PYTHONPATH`.
    static let hasClientLibrary = (try? output(of: "import imgproxy")) != nil

    /// What a program prints.
    static func output(of program: String) throws -> String {
        struct Failed: Error {}
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
        return text
    }
}
