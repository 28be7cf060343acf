// `kf-bench [WORD]`: measures the rows whose name holds the word. `kf-bench --check`: measures those that are counts, and
// fails when one falls short.

import Foundation

@main
struct KFBench {
    static let benchmarks =
        memoryBenchmarks + memoryHitBenchmarks + hitRatioBenchmarks + fileBenchmarks + storingBenchmarks
        + largeCacheBenchmarks + diskHitBenchmarks
        + downloadBenchmarks + joiningBenchmarks + queueBenchmarks + priorityBenchmarks + prefetchBenchmarks
        + resumingBenchmarks + revalidationBenchmarks
        + imagingBenchmarks
        + operationBenchmarks + animationBenchmarks
        + pngBenchmarks + modernFormatBenchmarks + shapeBenchmarks + viewBenchmarks + programBenchmarks

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if arguments == ["--check"] {
                let short = try await measure(benchmarks.filter(\.isCounted))
                if short > 0 { exit(1) }
            } else if let role = arguments.first, role.hasPrefix("--") {
                try await Child.play(role, Array(arguments.dropFirst()))
            } else {
                _ = try await measure(benchmarks.filter { matches($0.name, arguments.first ?? "") })
            }
        } catch {
            FileHandle.standardError.write(Data("kf-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func matches(_ name: String, _ word: String) -> Bool {
        word.isEmpty || name.lowercased().contains(word.lowercased())
    }

    /// Prints the figures as they are measured; the process ends when one cannot be.
    ///
    /// - Parameter selected: The rows.
    /// - Returns: How many fall short of their goals.
    /// - Throws: ``BenchmarkError`` when there are none.
    private static func measure(_ selected: [Benchmark]) async throws -> Int {
        try BenchmarkError.unless(!selected.isEmpty, "no row has that word; these are the rows:\n" + list(benchmarks))
        let table = Table(names: selected.map(\.name))
        table.printHeader()
        var (short, broken) = (0, 0)
        for benchmark in selected {
            do {
                let figure = try await benchmark.measure()
                table.show(figure, named: benchmark.name)
                if !figure.isReached { short += 1 }
            } catch {
                table.show(error, named: benchmark.name)
                broken += 1
            }
        }
        print("\n\(selected.count) figures, \(short) fall short, \(broken) broken")
        if broken > 0 { exit(1) }
        return short
    }

    private static func list(_ benchmarks: [Benchmark]) -> String {
        benchmarks.map { "  " + $0.name }.joined(separator: "\n")
    }
}
