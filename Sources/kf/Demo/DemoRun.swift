// The demo's loads: all pictures at once, as often as asked, with a clock around each stage.

import Foundation
import KFImaging
import KFSupport
import Kingfisher
import KingfisherTestSupport

/// What became of one picture in one pass.
struct DemoOutcome: Sendable {
    let picture: DemoPicture
    let result: Result<LoadedPicture, Failure>
}

/// Every picture once.
struct DemoPass: Sendable {
    let name: String
    let outcomes: [DemoOutcome]
    /// From the first load's start to the last one's end.
    let seconds: Double
}

/// Loads the demo's pictures through the library's whole pipeline.
struct DemoRun: Sendable {
    let pictures: [DemoPicture]
    let server: TestServer
    let console: Console
    let stages = StageClock()
    private let loader: PictureLoader

    /// How many loads are under way at once.
    private static let width = 8

    init(pictures: [DemoPicture], server: TestServer, cache: ImageCache, console: Console) {
        self.pictures = pictures
        self.server = server
        self.console = console
        let side = max(ContactSheet.cellWidth, ContactSheet.cellHeight)
        let processor =
            DownsamplingImageProcessor(size: CGSize(width: side, height: side))
            |> ResizingImageProcessor(
                referenceSize: CGSize(width: ContactSheet.cellWidth, height: ContactSheet.cellHeight),
                mode: .aspectFit
            )
            |> RoundCornerImageProcessor(cornerRadius: CGFloat(ContactSheet.radius))
        loader = PictureLoader(
            downloader: ImageDownloader(name: "kf-demo"),
            cache: cache,
            processor: TimedProcessor(base: processor, clock: stages),
            options: [
                .cacheSerializer(TimedSerializer(clock: stages)),
                .retryStrategy(DelayRetryStrategy(maxRetryCount: 3, retryInterval: .seconds(0.05))),
            ]
        )
    }

    /// Loads every picture once.
    func pass(_ name: String) async -> DemoPass {
        let progress = ProgressReport(total: pictures.count, console: console)
        let start = ContinuousClock.now
        let outcomes = await withTaskGroup(of: (Int, DemoOutcome).self) { group in
            var all: [(Int, DemoOutcome)] = []
            for (index, picture) in pictures.enumerated() {
                if index >= Self.width, let done = await group.next() { all.append(done) }
                group.addTask { (index, await load(picture, index, progress)) }
            }
            for await done in group { all.append(done) }
            return all.sorted { $0.0 < $1.0 }.map(\.1)
        }
        console.endProgress()
        return DemoPass(name: name, outcomes: outcomes, seconds: start.duration(to: .now) / .seconds(1))
    }

    private func load(_ picture: DemoPicture, _ index: Int, _ progress: ProgressReport) async -> DemoOutcome {
        let result: Result<LoadedPicture, Failure>
        do throws(Failure) {
            let argument: SourceArgument
            do throws(SourceArgumentError) {
                argument = try SourceArgument(server.url(picture.path).absoluteString)
            } catch {
                throw Failure.badSource(error)
            }
            let loaded = try await loader.load(argument) { progress.note(index, received: $0, expected: $1) }
            if let metrics = loaded.metrics { stages.add(metrics.totalRequestDuration, to: .transfer) }
            result = .success(loaded)
        } catch {
            result = .failure(error)
        }
        if case .failure = result {
            progress.end(index, failed: true)
        } else {
            progress.end(index, failed: false)
        }
        return DemoOutcome(picture: picture, result: result)
    }
}

/// Adds up the time that the stages of all loads take.
final class StageClock: Sendable {
    /// A part of a load.
    enum Stage: Int, CaseIterable, Sendable { case transfer, process, serialize, deserialize }

    /// How often, and how long in all.
    struct Sum: Sendable {
        var count = 0
        var seconds = 0.0
    }

    private let sums = Locked([Stage: Sum]())

    /// What has been added up for one stage.
    func sum(_ stage: Stage) -> Sum { sums.withLock { $0[stage] ?? Sum() } }

    /// Adds one piece of work.
    func add(_ seconds: Double, to stage: Stage) {
        sums.withLock {
            $0[stage, default: Sum()].count += 1
            $0[stage, default: Sum()].seconds += seconds
        }
    }

    fileprivate func time<Value>(_ stage: Stage, _ work: () -> Value) -> Value {
        let start = ContinuousClock.now
        defer { add(start.duration(to: .now) / .seconds(1), to: stage) }
        return work()
    }
}

/// Another processor, with a clock around it.
private struct TimedProcessor: ImageProcessor {
    let base: any ImageProcessor
    let clock: StageClock

    var identifier: String { base.identifier }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        clock.time(.process) { base.process(item: item, options: options) }
    }
}

/// The serializer of processed pictures, with a clock around it.
private struct TimedSerializer: CacheSerializer {
    let clock: StageClock

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        clock.time(.serialize) { FormatIndicatedCacheSerializer.png.data(with: image, original: original) }
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        clock.time(.deserialize) { FormatIndicatedCacheSerializer.png.image(with: data, options: options) }
    }
}
