// The demo's table. Knows nothing of how the figures came about.

import Foundation
import Kingfisher

/// What the demo has to say at its end.
struct DemoReport: CustomStringConvertible {
    let passes: [DemoPass]
    let stages: StageClock
    let requests: Int
    let sheetSeconds: Double

    /// Whether something failed that was not meant to, or something broken did not.
    var hasUnexpectedFailures: Bool {
        passes.contains { pass in
            pass.outcomes.contains { outcome in
                if case .failure = outcome.result {
                    outcome.picture.manner != .broken
                } else {
                    outcome.picture.manner == .broken
                }
            }
        }
    }

    var description: String {
        [passTable.lines.joined(separator: "\n"), stageTable.lines.joined(separator: "\n"), failureLines]
            .filter { !$0.isEmpty }
            .joined(separator: "\n\n")
    }

    private var passTable: TextTable {
        var table = TextTable(
            ("pass", .left),
            ("pictures", .right),
            ("downloads", .right),
            ("from memory", .right),
            ("from disk", .right),
            ("failed", .right),
            ("downloaded", .right),
            ("time", .right)
        )
        for pass in passes {
            let loaded = pass.outcomes.compactMap { try? $0.result.get() }
            let fresh = loaded.filter { $0.cacheType == .none }
            table.add(
                pass.name,
                "\(pass.outcomes.count)",
                "\(fresh.count)",
                "\(loaded.count { $0.cacheType == .memory })",
                "\(loaded.count { $0.cacheType == .disk })",
                "\(pass.outcomes.count - loaded.count)",
                Units.bytes(fresh.reduce(0) { $0 + ($1.data?.count ?? 0) }),
                Units.seconds(pass.seconds)
            )
        }
        return table
    }

    private var stageTable: TextTable {
        var table = TextTable(("stage", .left), ("times", .right), ("in all", .right), ("each", .right))
        for (stage, name) in [
            (StageClock.Stage.transfer, "download, retries and redirects included"),
            (.process, "decode, downsample, round the corners"),
            (.serialize, "encode for the disk cache"),
            (.deserialize, "decode from the disk cache"),
        ] {
            let sum = stages.sum(stage)
            table.add(
                name,
                "\(sum.count)",
                Units.seconds(sum.seconds),
                sum.count == 0 ? "" : Units.seconds(sum.seconds / Double(sum.count))
            )
        }
        table.add("contact sheet", "1", Units.seconds(sheetSeconds), Units.seconds(sheetSeconds))
        return table
    }

    private var failureLines: String {
        let lines = passes.first?.outcomes.compactMap { outcome -> String? in
            guard case .failure(let failure) = outcome.result else { return nil }
            let meant = outcome.picture.manner == .broken ? "failed, as it should" : "failed"
            return "\(outcome.picture.path) \(meant): \(failure.text)"
        }
        return (["\(requests) requests reached the server."] + (lines ?? [])).joined(separator: "\n")
    }
}
