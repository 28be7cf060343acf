// Loads every image once, all at the same time, and measures how long it takes.

import Foundation
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// The results of one round of loads.
struct Pass {
    let results: [Result<RetrieveImageResult, KingfisherError>]
    let isAsExpected: Bool

    /// The time of all downloads together, in seconds.
    var downloading: Double {
        results.reduce(0) { $0 + ((try? $1.get())?.metrics?.totalRequestDuration ?? 0) }
    }
}

/// Loads images, each with the same options.
struct Loader {
    let images: [DemoImage]
    let server: TestServer
    let manager: KingfisherManager
    let options: KingfisherOptionsInfo

    init(_ images: [DemoImage], _ server: TestServer, _ cache: ImageCache, _ processor: any ImageProcessor) {
        self.images = images
        self.server = server
        manager = KingfisherManager(downloader: ImageDownloader(name: "kf-demo"), cache: cache)
        options = [
            .processor(processor),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
            .retryStrategy(DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0.05))),
            .waitForCache,
        ]
    }

    /// Loads every image once, all at the same time, and prints the results.
    func pass(_ name: String) async -> Pass {
        let start = ContinuousClock.now
        let results = await withTaskGroup { group in
            for (index, image) in images.enumerated() {
                group.addTask { (index, await load(image)) }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        let seconds = start.duration(to: .now) / .seconds(1)
        let found = results.compactMap { try? $0.get().cacheType }
        print(
            "from \(name.padding(toLength: 8, withPad: " ", startingAt: 0)) \(milliseconds(seconds)):"
                + " \(found.count { $0 == .none }) downloaded, \(found.count { $0 == .memory }) in memory,"
                + " \(found.count { $0 == .disk }) on disk, \(results.count - found.count) failed"
        )
        var isAsExpected = true
        for (image, result) in zip(images, results) {
            switch (result, image.manner) {
            case (.failure(let error), .broken):
                if name == "network" { print("  \(image.path) failed, as it should: \(error)") }
            case (.failure(let error), _):
                print("  \(image.path) failed: \(error)")
                isAsExpected = false
            case (.success, .broken):
                print("  \(image.path) is broken, and was loaded")
                isAsExpected = false
            case (.success, _): break
            }
        }
        return Pass(results: results, isAsExpected: isAsExpected)
    }

    private func load(_ image: DemoImage) async -> Result<RetrieveImageResult, KingfisherError> {
        do throws(KingfisherError) {
            return .success(try await manager.retrieveImage(with: server.url(image.path), options: options))
        } catch {
            return .failure(error)
        }
    }
}

/// Adds up times.
final class Stopwatch: Sendable {
    private let sum = Locked(0.0)

    /// The sum, in seconds.
    var seconds: Double { sum.withLock { $0 } }

    func time<Value>(_ work: () -> Value) -> Value {
        let start = ContinuousClock.now
        defer { sum.withLock { $0 += start.duration(to: .now) / .seconds(1) } }
        return work()
    }
}

/// A processor whose work is timed.
struct TimedProcessor: ImageProcessor {
    let base: any ImageProcessor
    let stopwatch: Stopwatch

    var identifier: String { base.identifier }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        stopwatch.time { base.process(item: item, options: options) }
    }
}

/// A time such as `35.1 ms`, right-aligned in nine columns.
func milliseconds(_ seconds: Double) -> String { String(format: "%9.1f ms", seconds * 1000) }
