// What `make bench` leaves behind: a page with all rows and with the machine they were measured on, and a chart.

import Foundation

/// The figures of a run, in the order in which they were measured.
struct Report {
    /// A row, or why there is none.
    struct Row {
        let name: String
        let result: Result<Figure, any Error>
    }

    var rows: [Row] = []

    private var figures: [Figure] { rows.compactMap { try? $0.result.get() } }
    /// How many rows do not reach their goals, and how many could not be measured.
    var shortCount: Int { figures.count { !$0.isReached } }
    var brokenCount: Int { rows.count - figures.count }

    /// Writes report.md and chart.svg.
    ///
    /// - Parameter folder: Is made if it is not there.
    /// - Throws: The system's error.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(page.utf8).write(to: folder.appendingPathComponent("report.md"))
        try Data(Chart(rows).svg.utf8).write(to: folder.appendingPathComponent("chart.svg"))
    }

    private var page: String {
        let facts = Machine.facts.map { "| \($0.name) | \($0.value) |" }
        let lines = rows.map { row -> String in
            switch row.result {
            case .success(let figure):
                let cells = FigureText(figure)
                return
                    "| \(row.name) | \(cells.ours) | \(cells.baseline) | \(cells.ratio) | \(cells.goal) | \(cells.verdict) |"
            case .failure(let error):
                return "| \(row.name) | – | – | – | – | broken: \("\(error)".replacing("\n", with: " ")) |"
            }
        }
        return """
            # Benchmarks

            Each number is the median of rounds in which both sides were measured in turn. "Ours" is this library, "baseline" is
            what the name of the row says. \(rows.count) rows, \(shortCount) of which fall short of their goals.
            `make bench` writes this page.

            ![Rows beside their baselines](chart.svg)

            | machine | |
            |---|---|
            \(facts.joined(separator: "\n"))

            | work | ours | baseline | ratio | goal | |
            |---|--:|--:|--:|--:|---|
            \(lines.joined(separator: "\n"))

            """
    }
}

/// What must be known about a machine to compare figures.
private enum Machine {
    static var facts: [(name: String, value: String)] {
        [
            ("date", ISO8601DateFormatter().string(from: Date())),
            ("processor", processor), ("processors", "\(ProcessInfo.processInfo.activeProcessorCount)"),
            ("memory", "\(ProcessInfo.processInfo.physicalMemory / 1_000_000_000) GB"),
            ("system", system), ("kernel", output("uname", "-r")),
            ("Swift", output("swift", "--version").split(separator: "\n").first.map(String.init) ?? "unknown"),
            ("commit", output("git", "describe", "--always", "--dirty")),
            ("libraries", libraries), ("load average at the end", load),
        ]
    }

    private static func field(_ name: String, of path: String, _ separator: Character) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return line?.split(separator: separator, maxSplits: 1).last
            .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \"\t")) }
    }

    private static var processor: String { field("model name", of: "/proc/cpuinfo", ":") ?? "unknown" }
    private static var system: String { field("PRETTY_NAME", of: "/etc/os-release", "=") ?? "unknown" }
    private static var load: String { field("", of: "/proc/loadavg", "\n") ?? "unknown" }

    private static var libraries: String {
        ["libjpeg", "libpng", "libwebp", "libavif", "libtiff-4", "libcurl", "vips", "gtk4"]
            .map { "\($0) \(output("pkg-config", "--modversion", $0))" }.joined(separator: ", ")
    }

    /// The first line that a command prints; "unknown" when it fails.
    private static func output(_ command: String...) -> String {
        let (process, pipe) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let data = try? pipe.fileHandleForReading.readToEnd() else {
            return "unknown"
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return "unknown" }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
