// The work of `kf prefetch`: loads the sources of a list into the cache, and reports them in the list's order.

import Foundation
import KFSupport
import Kingfisher

/// One prefetch of a list.
struct PrefetchRun: Sendable {
    /// How the prefetch of one line ended.
    private enum Outcome: Equatable {
        case downloaded
        case cached
        case failed(Failure)
        /// Interrupted before it ended.
        case stopped

        var name: String {
            switch self {
            case .downloaded: "downloaded"
            case .cached: "cached"
            case .failed: "failed"
            case .stopped: "stopped"
            }
        }
    }

    /// A line, and the source it names.
    private struct Line {
        let text: String
        let source: Result<Source, Failure>
        let key: String

        init(_ text: String, _ loader: ImageLoader) {
            self.text = text
            let argument = Result { () throws(Failure) in
                let argument = try Self.argument(text)
                try loader.limits.check(argument)
                return argument
            }
            source = argument.map(\.source)
            key = (try? argument.get()).map { loader.key(of: $0) } ?? ""
        }

        private static func argument(_ text: String) throws(Failure) -> SourceArgument {
            let argument = try SourceArgument.reading(text)
            guard argument.stream == nil else {
                throw .badSource(
                    "pipes, and files whose names are not UTF-8, cannot be cached; name a URL or another file"
                )
            }
            return argument
        }
    }

    let loader: ImageLoader
    let lines: [String]
    let concurrency: Int
    let usesJSON: Bool
    let console: Console

    /// Prefetches everything, and reports it.
    ///
    /// - Parameter interruption: Stops it.
    /// - Returns: How many failed.
    func prefetch(stoppedBy interruption: Interruption) async -> Int {
        let lines = lines.map { Line($0, loader) }
        let sources = lines.compactMap { try? $0.source.get() }
        let bad = lines.count - sources.count
        let bar = ProgressReport(total: lines.count, console: console)
        let prefetcher = ImagePrefetcher(
            sources: sources,
            options: loader.options + [.targetCache(loader.cache), .downloader(loader.manager.downloader)],
            manager: loader.manager,
            callbackQueue: .untouch
        ) { skipped, failed, completed in
            bar.note(finished: bad + skipped.count + failed.count + completed.count, failed: bad + failed.count)
        }
        prefetcher.maxConcurrentDownloads = concurrency
        interruption.stopping { prefetcher.stop() }
        let outcomes = outcomes(of: await prefetcher.prefetch())
        console.endProgress()
        var counts: [String: Int] = [:]
        for line in lines {
            let outcome: Outcome =
                switch line.source {
                case .success(let source): outcomes[source] ?? .stopped
                case .failure(let failure): .failed(failure)
                }
            counts[outcome.name, default: 0] += 1
            report(line, outcome)
            if outcome == .downloaded { await warnUnlessKept(line) }
        }
        summarize(counts)
        return counts["failed"] ?? 0
    }

    private func outcomes(of result: PrefetchResult) -> [Source: Outcome] {
        var outcomes: [Source: Outcome] = [:]
        for source in result.completed { outcomes[source] = .downloaded }
        for source in result.skipped { outcomes[source] = .cached }
        for failed in result.failed {
            let failure = Outcome.failed(Failure(failed.error, loader.cache))
            outcomes[failed.source] = failed.error.isCancelled ? .stopped : failure
        }
        return outcomes
    }

    private func report(_ line: Line, _ outcome: Outcome) {
        var members = [JSON.Member(key: "source", value: .string(Redaction.source(line.text)))]
        let status = JSON.Member(key: "status", value: .string(outcome.name))
        if case .failed(let failure) = outcome {
            console.error(failure.line(about: line.text))
            members += [status, JSON.Member(key: "error", value: failure.json)]
        } else {
            members += [JSON.Member(key: "key", value: .string(Redaction.source(line.key))), status]
        }
        if usesJSON { console.print(JSON.object(members).description, always: true) }
    }

    private func warnUnlessKept(_ line: Line) async {
        guard await !loader.isOnDisk(line.key) else { return }
        console.warning(
            "\(Units.source(line.text)): loaded, but not in the cache, which keeps no damaged images; kf fetch tells "
                + "whether it is damaged"
        )
    }

    private func summarize(_ counts: [String: Int]) {
        func count(_ name: String) -> Int { counts[name] ?? 0 }
        guard !usesJSON else {
            let names = ["downloaded", "cached", "failed", "stopped"]
            let summary = JSON.object(names.map { JSON.Member(key: $0, value: .int(count($0))) })
            return console.print(summary.description, always: true)
        }
        var parts = [("downloaded", "downloaded"), ("cached", "already cached"), ("failed", "failed")]
            .map { "\(count($0)) \($1)" }
        if count("stopped") > 0 { parts.append("\(count("stopped")) stopped") }
        console.print(parts.joined(separator: ", "))
    }
}
