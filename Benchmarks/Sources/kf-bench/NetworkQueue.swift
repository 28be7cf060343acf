// Downloads that wait for a connection: the newest first. Uses public API only.

import Foundation
import Kingfisher
import Synchronization

let queueBenchmarks = [
    Benchmark(name: "300 images of a server that takes 1 s for each: arrive", isCounted: true) {
        Figure(.count(try await Scrolling.outcome.value.arrived), .exactly(300))
    },
    Benchmark(name: "300 images, newest first: others that end before the 30 wanted last", isCounted: true) {
        let outcome = try await Scrolling.outcome.value
        return Figure(.count(outcome.before), .atMost(.count(outcome.running)))
    },
]

/// The ends of downloads in their order.
private final class Ends: Sendable {
    private struct State {
        var numbers: [Int] = []
        var results: [Result<ImageLoadingResult, KingfisherError>] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let count: Int
    private let state = Mutex(State())

    /// - Parameter count: The number of downloads.
    init(of count: Int) { self.count = count }

    /// The downloads' numbers, in the order they ended.
    var numbers: [Int] { state.withLock { $0.numbers } }
    /// The results, in the same order.
    var results: [Result<ImageLoadingResult, KingfisherError>] { state.withLock { $0.results } }

    func add(_ number: Int, _ result: Result<ImageLoadingResult, KingfisherError>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.numbers.append(number)
            state.results.append(result)
            return state.numbers.count == count ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    /// Returns when all have ended.
    func all() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.numbers.count < count { state.waiter = continuation }
                return state.numbers.count == count
            }
            if isOver { continuation.resume() }
        }
    }
}

extension ImageDownloader {
    /// Starts one download, and records its end on the thread that reports it.
    fileprivate func start(_ url: URL, number: Int, notedIn ends: Ends) {
        let options: KingfisherOptionsInfo = [.processor(NoDecoding()), .callbackQueue(.untouch)]
        downloadImage(with: url, options: KingfisherParsedOptionsInfo(options)) { ends.add(number, $0) }
    }
}

/// A view that is scrolled past many images of a slow server, and stops at the last ones.
private enum Scrolling {
    private static let passed = 270
    private static let wanted = 30

    /// The number of images that arrived, of downloads that ran when the wanted ones were requested, and of those
    /// scrolled past that ended before the last wanted one; measured once.
    static let outcome = Task {
        let server = try SlowServerProcess(delay: 1, body: try SampleImages.jpeg(width: 300, height: 300))
        let downloader = ImageDownloader(name: "bench")
        downloader.executionOrder = .newestFirst
        let ends = Ends(of: passed + wanted)
        var running = 0
        for (number, url) in server.urls(passed + wanted).enumerated() {
            // The first ones are running by then.
            if number == passed {
                try await Task.sleep(for: .milliseconds(500))
                running = downloader.queueStatus.running
            }
            downloader.start(url, number: number, notedIn: ends)
        }
        await ends.all()
        _ = try server.stop()
        let last = ends.numbers.lastIndex { $0 >= passed } ?? 0
        let arrived = ends.results.filter { if case .success = $0 { true } else { false } }.count
        return (arrived: arrived, running: running, before: last + 1 - wanted)
    }
}
