// Soak test in a few rounds: processes are killed while they use a cache; `make soak` runs more rounds.

import Foundation
import KFSupport
import Testing

@Suite(.tags(.processes)) struct SoakTests {
    private static let executor = WorkExecutor("kf.soak", threads: 1)

    /// The tool is built beside the test bundle.
    private static func executable() throws -> URL {
        let me = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let candidates = [me, Bundle.main.bundleURL].map {
            $0.deletingLastPathComponent().appendingPathComponent("kf-soak")
        }
        return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
    }

    @Test(
        "After `kill -9` no entry is torn or lost and no temporary file stays; after a trim the size limit holds"
    )
    func killedProcesses() async throws {
        let executable = try Self.executable()
        try await withTemporaryDirectory { directory in
            let (status, words) = try await Self.executor.run { () async throws -> (Int32, String) in
                let process = Process()
                let output = Pipe()
                process.executableURL = executable
                process.arguments = ["20", directory.path]
                process.standardOutput = output
                process.standardError = output
                try process.run()
                let words = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return (process.terminationStatus, String(decoding: words, as: UTF8.self))
            }
            #expect(status == 0, "\(words)")
            let counts = words.split(separator: "\n").last?.split { !$0.isNumber }.compactMap { Int($0) } ?? []
            #expect(counts.count == 5 && counts[0] == 20)
            // A run without checks would prove nothing.
            #expect(counts.count == 5 && counts[1] > 20 && counts[2] > 0 && counts[4] > 0, "\(words)")
        }
    }
}
