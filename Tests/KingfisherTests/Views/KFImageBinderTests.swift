// The binder of `KFImage`: its loads, its content, and the handlers it calls.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite @MainActor struct KFImageBinderTests {
    private let calls = KFImageCalls()

    private func binder(_ image: KFImage) -> KFImageBinder {
        KFImageBinder(image.reporting(to: calls).context, playsFramesOnDemand: false)
    }

    @Test("Without a source the failure handler is called at once and only once, then the failure is shown")
    func noSource() async throws {
        let image = SampleImage.gradient(2, 2)
        try await Rig.run { rig in
            let plain = binder(rig.kfImage(nil))
            plain.start()
            #expect(calls.codes == [5001] && !plain.isLoading && plain.isDone && plain.isPlaceholder)
            plain.start()
            #expect(calls.codes == [5001])

            let pictured = binder(rig.kfImage(nil).onFailureImage(image))
            calls.onCall = { #expect(pictured.isPlaceholder) }
            pictured.start()
            #expect(pictured.image === image)

            let viewed = binder(rig.kfImage(nil).onFailureImage(image).onFailureView { KFCrossPlatformView() })
            calls.onCall = { #expect(viewed.isPlaceholder) }
            viewed.start()
            #expect(viewed.isFailureView && calls.codes == [5001, 5001, 5001])
        }
    }

    @Test("A load is started once, and not again when its image is there") func startOnce() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            let binder = binder(try rig.kfImage("/a", until: gate).forceRefresh())
            binder.start()
            #expect(binder.isLoading && binder.isPlaceholder)
            binder.start()
            gate.open()
            await calls.wait()
            #expect(!binder.isLoading && binder.isDone && binder.image?.pixelWidth == 64)
            binder.start()
            #expect(!binder.isLoading && rig.server.count("/a") == 1)
        }
    }

    @Test("Progress is counted, then the observer and the progress handler are called") func progress() async throws {
        try await Rig.run { rig in
            let (data, gate, half) = (try SampleImage.png(), Gate(), Gate())
            let middle = Int64(data.count / 2)
            rig.server.route(
                "/a",
                TestResponse.data(data).with { $0.interruption = .hold(after: Int(middle), until: gate) }
            )
            let (order, last) = (Box<[String]>([]), Box<Int64>(0))
            let binder = binder(
                rig.kfImage(rig.server.url("/a")).onProgress { received, total in
                    order.value.append("handler")
                    last.value = received
                    #expect(total == Int64(data.count))
                    if received == middle { half.open() }
                }
            )
            binder.onProgress = { order.value.append("observer") }
            binder.start()
            await half.wait()
            #expect(binder.progress.completedUnitCount == middle)
            #expect(binder.progress.totalUnitCount == Int64(data.count))
            #expect(order.value.prefix(2) == ["observer", "handler"])
            gate.open()
            await calls.wait()
            #expect(last.value >= middle && binder.progress.fractionCompleted == 1)
        }
    }

    /// Reports what it is told to, and then has an image.
    private struct Boaster: ImageLoading {
        let image: Data
        let received: Int64
        let expected: Int64

        func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool {
            url.path() == "/\(received)/\(expected)"
        }
        func load(
            _ url: URL,
            options: KingfisherParsedOptionsInfo,
            progress: @escaping @Sendable (Int64, Int64) -> Void
        ) async throws -> (Data, URLResponse?) {
            progress(received, expected)
            return (image, nil)
        }
    }

    @Test("A loader may report any progress") func anyProgress() async throws {
        try await Rig.run { rig in
            let numbers = [Int64.min, -1, 0, 1, .max - 1, .max]
            let image = try SampleImage.png()
            for (received, expected) in numbers.flatMap({ one in numbers.map { (one, $0) } }) {
                rig.manager.loaders.add(Boaster(image: image, received: received, expected: expected))
                let before = calls.codes.count
                let binder = binder(rig.kfImage(rig.server.url("/\(received)/\(expected)")))
                binder.start()
                await calls.wait(for: before + 1)
                #expect(binder.image?.pixelWidth == 64)
                // It is complete in the end.
                #expect(binder.progress.completedUnitCount == (received < 0 || expected <= 0 ? 0 : expected))
            }
        }
    }

    @Test("Previews are shown while the load continues, and none after it was cancelled") func previews()
        async throws
    {
        let (jpeg, collector) = (try ProgressiveSample(), PreviewCollector())
        try await Rig.run { rig in
            let (second, third) = (Gate(), Gate())
            rig.server.route("/a", jpeg.response(holding: [(3, second), (4, third)]))
            let image = rig.kfImage(rig.server.url("/a")).progressiveJPEG(collector.progressive())
            let binder = binder(image.loadTransition(.fade(1)))
            binder.start()
            await collector.wait(for: 2)
            #expect(binder.isLoading && !binder.isDone && binder.image.flatMap(jpeg.scan) == 2)
            #expect(binder.transition?.isNone == true)
            binder.cancel()
            second.open()
            third.open()
            await calls.wait()
            #expect(binder.image.flatMap(jpeg.scan) == 2 && calls.results.first?.isCancelled == true)
        }
    }

    @Test("The image is set before the success handler is called, one turn later, on any callback queue")
    func success() async throws {
        try await Rig.run { rig in
            let image = try await rig.kfImageInMemory("/a")
            for queue in [CallbackQueue.mainCurrentOrAsync, .untouch, .dispatch(.global())] {
                let (calls, changes) = (KFImageCalls(), Counter())
                let context = image.callbackQueue(queue).reporting(to: calls).context
                let binder = KFImageBinder(context, playsFramesOnDemand: false)
                binder.onChange = { changes.add() }
                calls.onCall = { #expect(binder.isDone && binder.image != nil && CallbackQueue.isMain) }
                binder.start()
                #expect(binder.image?.pixelWidth == 64 && changes.value == 1 && calls.codes.isEmpty)
                await calls.wait()
                #expect(calls.codes == [0] && !binder.isLoading)
            }
        }
    }

    @Test("A loaded image appears with the load transition, or else with the fade")
    func transitions() async throws {
        try await Rig.run { rig in
            let image = try rig.kfImage("/a").forceRefresh().fade(duration: 1)
            let (faded, flipped) = (binder(image), binder(image.loadTransition(.flipFromLeft(2))))
            faded.start()
            flipped.start()
            await calls.wait(for: 2)
            #expect(faded.transition?.duration == 1 && flipped.transition?.duration == 2)
        }
    }

    @Test("A failure is shown, then the failure handler is called", arguments: [404, 200])
    func failure(status: Int) async throws {
        let picture = SampleImage.gradient(2, 2)
        try await Rig.run { rig in
            rig.server.route("/a", .status(status))  // not an image, whatever the status
            let image = rig.kfImage(rig.server.url("/a")).onFailureImage(picture)
            let (pictured, viewed) = (binder(image), binder(image.onFailureView { KFCrossPlatformView() }))
            let (plain, empty) = (binder(rig.kfImage(rig.server.url("/a"))), binder(image.onFailureImage(nil)))
            calls.onCall = { #expect(!(pictured.isLoading && viewed.isLoading && plain.isLoading && empty.isLoading)) }
            for binder in [pictured, viewed, plain, empty] { binder.start() }
            #expect(calls.codes.isEmpty)
            await calls.wait(for: 4)
            #expect(pictured.image === picture && viewed.isFailureView && plain.isPlaceholder)
            #expect(empty.image == nil && !empty.isPlaceholder && !empty.isFailureView)
            #expect(Set(calls.codes) == [status == 404 ? 2002 : 4001])
            #expect(!pictured.isLoading && !pictured.isDone)
        }
    }

    @Test("A cancelled load can be started again, before or after the first load has ended")
    func cancelling() async throws {
        try await Rig.run { rig in
            for waits in [true, false] {
                let (gate, calls) = (Gate(), KFImageCalls())
                let image = try rig.kfImage("/\(waits)", until: gate).onFailureView { KFCrossPlatformView() }
                let binder = KFImageBinder(image.reporting(to: calls).context, playsFramesOnDemand: false)
                binder.cancel()
                binder.start()
                await rig.server.waitForRequests(to: "/\(waits)")
                binder.cancel()
                #expect(!binder.isLoading && binder.isPlaceholder)
                if waits { await calls.wait() }
                #expect(binder.isPlaceholder)
                binder.start()
                #expect(binder.isLoading)
                gate.open()
                await calls.wait(for: 2)
                #expect(binder.image != nil && binder.isDone)
                #expect(calls.codes.filter { $0 == 0 }.count == 1)
                if waits { #expect(calls.results.first?.isCancelled == true) }
            }
        }
    }

    @Test("The priority of a download is low as long as it is set to low") func priority() async throws {
        try await Rig.run { rig in
            let (source, received) = (KFImageTransfer(), Gate())
            let image = rig.kfImage(source.url).downloader(source.downloader).downloadPriority(0.75)
            let binder = binder(image.onProgress { _, _ in received.open() })
            binder.setPriority(isLow: true)
            binder.start()
            let transfer = try await source.arrive(until: received)
            binder.setPriority(isLow: true)
            #expect(transfer.priority == 0.25)
            binder.setPriority(isLow: false)
            #expect(transfer.priority == 0.75)
            binder.cancel()
            await calls.wait()
            source.downloader.cancelAll()
        }
    }
}

extension KFImageBinder {
    fileprivate var isPlaceholder: Bool { if case .placeholder = content { true } else { false } }
    fileprivate var isFailureView: Bool { if case .failureView = content { true } else { false } }
    fileprivate var image: Image? { if case .image(let image, _) = content { image } else { nil } }
    fileprivate var transition: ImageTransition? {
        if case .image(_, let transition) = content { transition } else { nil }
    }
}

extension Result<RetrieveImageResult, KingfisherError> {
    fileprivate var isCancelled: Bool { if case .failure(let error) = self { error.isTaskCancelled } else { false } }
}
