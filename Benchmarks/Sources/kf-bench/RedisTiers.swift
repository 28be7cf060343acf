// The shared tier in Redis against redis-benchmark, on loopback. For `make bench-fleet`.

import Foundation
import KingfisherTiers

let redisBenchmarks = [
    Benchmark(name: "Redis: 20 KB values a second, 64 calls at once, against redis-benchmark") {
        let redis = try await Redis.started()
        var pairs: [(ours: Double, theirs: Double)] = []
        for _ in 0..<3 {
            let ours = try await seconds(.wall) { try await redis.get(Redis.count) }
            pairs.append((ours / Double(Redis.count), try redis.secondsOfBenchmark()))
        }
        return Figure(rateOf: Comparison(pairs), .share(0.5))
    },
    Benchmark(name: "Redis: CPU of this process for a 20 KB value, 64 calls at once") {
        let redis = try await Redis.started()
        let cpu = try await seconds(.process) { try await redis.get(Redis.count) }
        return Figure(.seconds(cpu / Double(Redis.count)), .atMost(.seconds(40e-6)))
    },
]

/// A redis-server in a process of its own with one value, and a tier in it.
private final class Redis: Sendable {
    static let count = 64_000
    private static let size = 20_480
    private static let calls = 64

    private let port: Int
    private let tier: RedisTier
    /// A shell that ends the server when its input ends, which it also does if this process is killed.
    private let shell: Process
    private let input: Pipe

    private init() throws {
        port = try Socket.freePort()
        tier = try RedisTier("redis://127.0.0.1:\(port)")
        (shell, input) = (Process(), Pipe())
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "\(port)"]
        shell.standardInput = input
        try shell.run()
    }

    /// Listens on the port `$0` until the input ends.
    private static let script = """
        redis-server --port "$0" --bind 127.0.0.1 --save '' >/dev/null &
        cat >/dev/null
        kill -KILL $!
        """

    /// A server that has the value.
    static func started() async throws -> Redis {
        let redis = try Redis()
        let value = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for _ in 0..<500 {
            if (try? await redis.tier.put(value, forKey: "value", expiry: nil)) != nil { return redis }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchmarkError("redis-server does not start (make bench installs it)")
    }

    deinit {
        try? input.fileHandleForWriting.close()
        shell.waitUntilExit()
    }

    /// Gets the value so often, by as many tasks as there are calls at once.
    func get(_ count: Int) async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<Self.calls {
                group.addTask { [tier] in
                    for _ in 0..<count / Self.calls {
                        let value = try await tier.get("value")
                        try BenchmarkError.unless(value?.count == Self.size, "the value is not the one that was stored")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// The time of one GET of redis-benchmark, with as many connections.
    func secondsOfBenchmark() throws -> Double {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["redis-benchmark", "-p", "\(port)", "-t", "set,get", "-d", "\(Self.size)", "-c", "\(Self.calls)"]
            + ["-n", "\(Self.count)", "--csv"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let cells = text.split(separator: "\n").first { $0.hasPrefix("\"GET\"") }?.split(separator: ",")
        let rate = cells?.dropFirst().first.flatMap { Double($0.filter { $0 != "\"" }) } ?? 0
        try BenchmarkError.unless(rate > 0, "redis-benchmark prints no rate: \(text)")
        return 1 / rate
    }
}
