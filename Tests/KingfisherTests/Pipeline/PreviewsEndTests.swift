// The end of previews: none comes after a load has completed or was cancelled, and a retry repeats none.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct PreviewsEndTests {
    private let jpeg: ProgressiveSample
    private let collector = PreviewCollector()

    init() throws { jpeg = try ProgressiveSample() }

    /// A load whose second preview is held back in its processor.
    private struct HeldLoad {
        let task: DownloadTask?
        let hold = Gate(), working = Gate(), go = DispatchSemaphore(value: 0), done = Gate()
        /// Opens when the load is released: no preview can follow.
        let isOver: Gate

        init(_ jpeg: ProgressiveSample, _ rig: Rig, _ progressive: ImageProgressive) {
            let token = LifetimeToken()
            isOver = token.gate
            rig.server.route("/a", jpeg.response(holding: [(3, hold)]))
            let processor = PreviewProcessor(token: token) { [working, go] number in
                guard number == 2 else { return true }
                working.open()
                go.wait()
                return true
            }
            let options: KingfisherOptionsInfo = [
                .progressiveJPEG(progressive), .processor(processor), ProgressiveSample.blockingQueue,
            ]
            task = rig.manager.retrieveImage(with: rig.server.url("/a"), options: options) { [done] _ in done.open() }
        }
    }

    @Test("A preview that is not ready when the load completes is never delivered")
    func noPreviewAfterCompletion() async throws {
        try await Rig.run { rig in
            let load = HeldLoad(jpeg, rig, collector.progressive())
            await load.working.wait()
            load.hold.open()
            await load.done.wait()
            load.go.signal()
            await load.isOver.wait()
            await CallbackQueue.mainAsync.run {}
            #expect(collector.images.count == 1)
        }
    }

    @Test("A preview that is not ready when the load is cancelled is never delivered")
    func noPreviewAfterCancelling() async throws {
        try await Rig.run { rig in
            let load = HeldLoad(jpeg, rig, collector.progressive())
            await load.working.wait()
            load.task?.cancel()
            load.go.signal()
            await load.done.wait()
            await load.isOver.wait()
            await CallbackQueue.mainAsync.run {}
            #expect(collector.images.count == 1)
            load.hold.open()
        }
    }

    @Test("A preview on its way to the main thread is dropped when the load is cancelled there")
    func cancellingDropsQueued() async throws {
        try await Rig.run { rig in
            let hold = Gate(), done = Gate(), task = Box<DownloadTask?>(nil)
            rig.server.route("/a", jpeg.response(holding: [(3, hold)]))
            let shown = Counter()
            let collector = PreviewCollector { _ in
                task.value?.cancel()
                return .default
            }
            let options = rig.manager.parsed([.progressiveJPEG(collector.progressive())])
            let source = Source.network(rig.server.url("/a"))
            // The first preview cannot come before the main thread is free.
            await CallbackQueue.mainAsync.run {
                task.value = rig.manager.retrieveImage(
                    with: source,
                    parsed: options,
                    previewSetter: { _ in shown.add() },
                    completionHandler: { _ in done.open() }
                )
            }
            await done.wait()
            #expect(collector.images.count == 1 && shown.value == 0)
            hold.open()
        }
    }

    @Test("A second attempt shows only scans that the first one did not show")
    func previewsOfRetry() async throws {
        try await withTemporaryDirectory { directory in
            let starts = [Promise<FakeTransfer>(), Promise<FakeTransfer>()], count = Counter()
            let transport = FakeTransport { starts[count.add() - 1].fulfil($0) }
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "test", transport: transport),
                cache: try ImageCache(name: "test", cacheDirectoryURL: directory)
            )
            let options: KingfisherOptionsInfo = [
                .callbackQueue(.untouch), .progressiveJPEG(collector.progressive()),
                .retryStrategy(DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))),
            ]
            let done = Gate()
            manager.retrieveImage(with: ProgressiveSample.anyURL, options: options) { _ in done.open() }
            let first = await starts[0].value
            first.receive(try plainResponse(length: nil))
            first.send(jpeg.data.prefix(jpeg.bytes(beginning: 4)))
            await collector.wait(for: 3)
            first.complete(TransportError(.networkConnectionLost, "gone", url: ProgressiveSample.anyURL))
            let second = await starts[1].value
            second.receive(try plainResponse(length: nil))
            second.send(jpeg.data.prefix(jpeg.bytes(beginning: 6)))
            await collector.wait(for: 5)
            second.send(jpeg.data.dropFirst(jpeg.bytes(beginning: 6)))
            second.complete()
            await done.wait()
            #expect(jpeg.scans(collector).prefix(5) == [1, 2, 3, 4, 5])
        }
    }
}
