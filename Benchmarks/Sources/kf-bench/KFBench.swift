// `kf-bench [WORD]`: measures the rows whose name holds the word.

import Foundation

@main
struct KFBench {
    static let benchmarks =
        memoryBenchmarks + hitRatioBenchmarks + fileBenchmarks + storingBenchmarks + largeCacheBenchmarks
        + diskHitBenchmarks
        + downloadBenchmarks + joiningBenchmarks + queueBenchmarks + priorityBenchmarks + prefetchBenchmarks
        + resumingBenchmarks + revalidationBenchmarks
        + imagingBenchmarks
        + operationBenchmarks + animationBenchmarks
        + pngBenchmarks + modernFormatBenchmarks + shapeBenchmarks + viewBenchmarks + programBenchmarks

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let role = arguments.first, role.hasPrefix("--") {
                try await Child.play(role, Array(arguments.dropFirst()))
            } else {
                try await measure(benchmarks.filter { matches($0.name, arguments.first ?? "") })
            }
        } catch {
            FileHandle.standardError.write(Data("kf-bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func matches(_ name: String, _ word: String) -> Bool {
        word.isEmpty || name.lowercased().contains(word.lowercased())
    }

    private static func measure(_ selected: [Benchmark]) async throws {
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
    }

    private static func list(_ benchmarks: [Benchmark]) -> String {
        benchmarks.map { "  " + $0.name }.joined(separator: "\n")
    }
}
