// A browser without a window. For the test of the page to try options.

import Foundation
import Testing

enum Chromium {
    private static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first { starts($0) }

    /// Ubuntu's package is a script that asks for a snap.
    private static func starts(_ program: String) -> Bool {
        guard FileManager.default.isExecutableFile(atPath: program) else { return false }
        let process = Process()
        (process.executableURL, process.arguments) = (URL(filePath: program), ["--version"])
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    static var isInstalled: Bool { program != nil }

    /// The text of an element once the page is loaded.
    static func text(of identifier: String, in url: String) throws -> String {
        let profile = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: profile) }
        let process = Process()
        process.executableURL = URL(filePath: try #require(program))
        process.arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(profile.path)",
            "--dump-dom", url,
        ]
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
        try process.run()
        let page = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        let start = try #require(page.range(of: "id=\"\(identifier)\">"), "\(page)").upperBound
        let end = try #require(page.range(of: "<", range: start..<page.endIndex)).lowerBound
        return String(page[start..<end]).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing(
            "&amp;",
            with: "&"
        )
    }
}
