// When previews end: PJ09 and PJ10 of the specification.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct PreviewsEndTests {
    private let jpeg: ProgressivePicture
    private let watcher = Watcher()

    init() throws { jpeg = try ProgressivePicture() }

    /// A load whose second preview is held up in its processor.
    private struct Held {
        let task: DownloadTask?
        let hold = Gate(), working = Gate(), go = DispatchSemaphore(value: 0), done = Gate()
        /// Opens when nobody holds anything of the load any more: nothing can come of it then.
        let isOver: Gate

        init(_ jpeg: ProgressivePicture, _ rig: Rig, _ progressive: ImageProgressive) {
            let leash = Leash()
            isOver = leash.gate
            rig.server.route("/a", jpeg.response(holding: [(3, hold)]))
            let processor = PreviewProcessor(leash: leash) { [working, go] number in
                guard number == 2 else { return true }
                working.open()
                go.wait()
                return true
            }
            let options: KingfisherOptionsInfo = [
                .progressiveJPEG(progressive), .processor(processor), ProgressivePicture.elsewhere,
            ]
            task = rig.manager.retrieveImage(with: rig.server.url("/a"), options: options) { [done] _ in done.open() }
        }
    }

    @Test("PJ09, F21: a preview that is not ready when the load completes never comes")
    func nothingComesAfterCompletion() async throws {
        try await Rig.run { rig in
            let load = Held(jpeg, rig, watcher.progressive())
            await load.working.wait()
            load.hold.open()
            await load.done.wait()
            load.go.signal()
            await load.isOver.wait()
            await CallbackQueue.mainAsync.run {}
            #expect(watcher.images.count == 1)
        }
    }

    @Test("PJ09: a preview that is not ready when the load is cancelled never comes")
    func nothingComesAfterCancelling() async throws {
        try await Rig.run { rig in
            let load = Held(jpeg, rig, watcher.progressive())
            await load.working.wait()
            load.task?.cancel()
            load.go.signal()
            await load.done.wait()
            await load.isOver.wait()
            await CallbackQueue.mainAsync.run {}
            #expect(watcher.images.count == 1)
            load.hold.open()
        }
    }

    @Test("PJ09: a preview on its way to the main thread is dropped when the load is cancelled there")
    func cancellingOnTheMainThreadDropsWhatIsQueued() async throws {
        try await Rig.run { rig in
            let hold = Gate(), done = Gate(), task = Box<DownloadTask?>(nil)
            rig.server.route("/a", jpeg.response(holding: [(3, hold)]))
            let shown = Counter()
            let watcher = Watcher { _ in
                task.value?.cancel()
                return .default
            }
            let options = rig.manager.parsed([.progressiveJPEG(watcher.progressive())])
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
            #expect(watcher.images.count == 1 && shown.value == 0)
            hold.open()
        }
    }

    @Test("PJ10: a second attempt shows only what the first had not")
    func aRetryDoesNotGoBack() async throws {
        try await withTemporaryDirectory { directory in
            let starts = [Promise<FakeTransfer>(), Promise<FakeTransfer>()], count = Counter()
            let transport = FakeTransport { starts[count.add() - 1].keep($0) }
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "test", transport: transport),
                cache: try ImageCache(name: "test", cacheDirectoryURL: directory)
            )
            let options: KingfisherOptionsInfo = [
                .callbackQueue(.untouch), .progressiveJPEG(watcher.progressive()),
                .retryStrategy(DelayRetryStrategy(maxRetryCount: 1, retryInterval: .seconds(0))),
            ]
            let done = Gate()
            manager.retrieveImage(with: ProgressivePicture.anyURL, options: options) { _ in done.open() }
            let first = await starts[0].value
            first.receive(try plainResponse(length: nil))
            first.send(jpeg.data.prefix(jpeg.bytes(beginning: 4)))
            await watcher.wait(for: 3)
            first.complete(TransportError(.networkConnectionLost, "gone", url: ProgressivePicture.anyURL))
            let second = await starts[1].value
            second.receive(try plainResponse(length: nil))
            second.send(jpeg.data.prefix(jpeg.bytes(beginning: 6)))
            await watcher.wait(for: 5)
            second.send(jpeg.data.dropFirst(jpeg.bytes(beginning: 6)))
            second.complete()
            await done.wait()
            #expect(jpeg.scans(watcher).prefix(5) == [1, 2, 3, 4, 5])
        }
    }
}
