// Paths made from the grammar and broken, through a whole server with the real renderer: statuses, and memory.

import Foundation
import KFImageURLs
import KFImageURLsTestSupport
import KingfisherServer
import Testing

@Suite(.timeLimit(.minutes(60))) struct BrokenPathsTests {
    /// `KF_PATHS=100000` asks for more of them.
    private static let count = ProcessInfo.processInfo.environment["KF_PATHS"].flatMap(Int.init) ?? 10_000

    @Test("Ten thousand paths are answered, with no error of the server's own, and memory stays flat")
    func paths() async throws {
        // A process of its own: the memory that is counted is the server's alone.
        let output = \ExitTest.Result.standardOutputContent
        let result = try await #require(processExitsWith: .success, observing: [output]) {
            try await RenderingServer.run({
                $0.urls.allowsSecurityOptions = true
                $0.urls.presets = ["known": ["q:1"]]
                // The sides of results, so that encoders take little time; and room for few results.
                $0.output.maxDimension = 100
                $0.delivery.memoryCacheBytes = 1 << 20
                $0.delivery.diskCacheBytes = 1 << 20
            }) { server in
                let half = BrokenPathsTests.count / 2
                // What is made once, threads and tables, comes before the first look.
                var counts = try await server.statuses(ofPaths: half, seed: 1)
                let before = try residentBytes()
                counts.merge(try await server.statuses(ofPaths: half, seed: 2), uniquingKeysWith: +)
                let after = try residentBytes()
                print("paths: \(counts.sorted { $0.key < $1.key }), memory \(before >> 20), then \(after >> 20) MiB")
                #expect(counts.keys.allSatisfy { $0 < 500 || (502...504).contains($0) })
                // Neither all good nor all bad, or it would try little.
                for status in [200, 403, 404] { #expect(counts[status, default: 0] > half / 100, "\(status)") }
                #expect(after - before < 24 << 20)
            }
        }
        print(String(decoding: result.standardOutputContent, as: UTF8.self))
    }
}

extension RenderingServer {
    /// How many answers had which status, on two connections.
    fileprivate func statuses(ofPaths count: Int, seed: UInt64) async throws -> [Int: Int] {
        try await withThrowingTaskGroup(of: [Int: Int].self) { tasks in
            for part: UInt64 in 0..<2 {
                tasks.addTask { try await statusesOnOneConnection(ofPaths: count / 2, seed: 2 * seed + part) }
            }
            return try await tasks.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }

    private func statusesOnOneConnection(ofPaths count: Int, seed: UInt64) async throws -> [Int: Int] {
        var paths = MutatedPaths(seed: seed, sources: Self.sources)
        var counts: [Int: Int] = [:]
        let connection = try await RawConnection(port: port)
        defer { connection.leave() }
        for _ in 0..<count {
            let path = paths.next().addingPercentEncoding(withAllowedCharacters: Self.sent) ?? ""
            try await connection.send(path.hasPrefix("/") ? path : "/" + path)
            let answer = try await connection.answer()
            counts[answer.status, default: 0] += 1
            if answer.status >= 500 { Issue.record("\(path): \(answer.status) \(answer.text)") }
        }
        return counts
    }

    /// Local ones plain and in base64, and some that are not there.
    private static let sources =
        Sources.urls.map { "plain/" + $0 }
        + Sources.urls.flatMap { url in ["webp", "png", "gif"].map { "plain/\(url)@\($0)" } }
        + Sources.urls.map { Data($0.utf8).base64EncodedString() } + ["plain/local:///missing@png", "plain/ftp://a/b"]

    /// Clients send the other bytes escaped.
    private static let sent = CharacterSet(charactersIn: "!\"$%&'()*+,-./:;=?@[]^_`{|}~").union(.alphanumerics)
        .intersection(CharacterSet(charactersIn: "\u{21}"..."\u{7E}"))
}

private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
