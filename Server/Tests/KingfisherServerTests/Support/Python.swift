// Programs in Python. For the tests with a client library, and with another reader of files.

import Foundation

enum Python {
    /// Whether `imgproxy` of PyPI is installed, or in `PYTHONPATH`.
    static let hasClientLibrary = (try? output(of: "import imgproxy")) != nil

    /// Whether Pillow is.
    static let hasPillow = (try? output(of: "import PIL.Image")) != nil

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
