// The program exiftool, which reads the metadata of images, for tests of what the encoders write.

import Foundation

/// The program exiftool, which reads the metadata of images.
enum ExifTool {
    static let advice = "exiftool is missing; Scripts/install-dependencies desktop installs it"
    static let isInstalled = (try? read(nil, ["-ver"])) != nil

    private struct Failed: Error {}

    /// What the program prints about a file.
    static func read(_ file: Data?, _ arguments: [String]) throws -> Data {
        let url = FileManager.default.temporaryDirectory.appending(path: "kf-seen-\(UUID()).jpg")
        try file?.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["exiftool"] + arguments + (file == nil ? [] : [url.path])
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
        return data
    }
}
