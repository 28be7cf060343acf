// `kf-bench [WORD]`: measures the rows whose name holds the word. `kf-bench --check`: measures those that are counts,
// and fails when one falls short.

import Foundation

@main
struct KFBench {
    static let benchmarks =
        memoryBenchmarks + memoryHitBenchmarks + diskHitBenchmarks
        + downloadBenchmarks + joiningBenchmarks + queueBenchmarks + revalidationBenchmarks
        + imagingBenchmarks + largeImageBenchmarks + linearLightBenchmarks + equalScoreBenchmarks + animationBenchmarks
        + isolationBenchmarks + instructionBenchmarks

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments == ["--check"] {
                let report = try await measure(benchmarks.filter(\.isCounted))
                if report.shortCount + report.brokenCount > 0 { exit(1) }
            } else if let role = arguments.first, role.hasPrefix("--") {
                try await Child.play(role, Array(arguments.dropFirst()))
            } else {
                let report = try await measure(benchmarks.filter { matches($0.name, arguments.first ?? "") })
                let folder = URL(fileURLWithPath: "bench-output")
                try report.write(to: folder)
                print("\(folder.path)/report.md has them, with the machine and a chart")
                if report.brokenCount > 0 { exit(1) }
            }
        } catch {
            FileHandle.standardError.write(Data("kf-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func matches(_ name: String, _ word: String) -> Bool {
        word.isEmpty || name.lowercased().contains(word.lowercased())
    }

    /// Prints the figures as they are measured.
    ///
    /// - Parameter selected: The rows.
    /// - Returns: All of them.
    /// - Throws: ``BenchmarkError`` when there are none.
    private static func measure(_ selected: [Benchmark]) async throws -> Report {
        try BenchmarkError.unless(!selected.isEmpty, "no row has that word; these are the rows:\n" + list(benchmarks))
        let table = Table(names: selected.map(\.name))
        table.printHeader()
        var report = Report()
        for benchmark in selected {
            do {
                let figure = try await benchmark.measure()
                table.show(figure, named: benchmark.name)
                report.rows.append(Report.Row(name: benchmark.name, result: .success(figure)))
            } catch {
                table.show(error, named: benchmark.name)
                report.rows.append(Report.Row(name: benchmark.name, result: .failure(error)))
            }
        }
        print("\n\(selected.count) figures, \(report.shortCount) fall short, \(report.brokenCount) broken")
        return report
    }

    private static func list(_ benchmarks: [Benchmark]) -> String {
        benchmarks.map { "  " + $0.name }.joined(separator: "\n")
    }
}
