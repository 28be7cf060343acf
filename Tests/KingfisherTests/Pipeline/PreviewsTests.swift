// Previews of progressive JPEGs: which scans are shown, when, how they are processed, and where they are delivered.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct PreviewsTests {
    private let jpeg: ProgressiveSample
    private let collector = PreviewCollector()

    init() throws { jpeg = try ProgressiveSample() }

    @Test("Only progressive JPEGs have previews")
    func otherFilePreviews() async throws {
        try await Rig.run { rig in
            // The thumbnail inside the file is progressive, the image is not.
            for name in ["photo.jpg", "thumbnail.jpg", "interlaced.png", "photo.gif"] {
                let data = try Data(contentsOf: Catalogue.url(name))
                rig.server.route("/\(name)", TestResponse.data(data).with { $0.pieceSize = 100 })
                let token = LifetimeToken()
                let gate = token.gate
                let url = rig.server.url("/\(name)")
                _ = try await load(url, rig, PreviewProcessor(token: token) { _ in true })
                _ = consume token
                await gate.wait()
            }
            #expect(collector.images.isEmpty)
        }
    }

    /// Loads an image, and retains nothing once the result is returned.
    private func load(_ url: URL, _ rig: Rig, _ processor: PreviewProcessor) async throws -> RetrieveImageResult {
        let options: KingfisherOptionsInfo = [.progressiveJPEG(collector.progressive()), .processor(processor)]
        return try await rig.manager.retrieveImage(with: url, options: options)
    }

    @Test("Every complete scan is shown, in order, on the main thread")
    func scanOrder() async throws {
        try await Rig.run { rig in
            let last = Gate()
            let url = rig.server.route("/a", jpeg.response(holding: [(jpeg.scans.count, last)]))
            async let result = rig.manager.retrieveImage(
                with: url,
                options: [.progressiveJPEG(collector.progressive())]
            )
            await collector.wait(for: jpeg.scans.count - 1)
            last.open()
            let image = try await result.image
            #expect(jpeg.scans(collector) == Array(1..<jpeg.scans.count))
            #expect(collector.isAlwaysMain)
            #expect(image.isSame(as: try Codecs.decode(jpeg.data)))
        }
    }

    @Test("A scan is complete when the next one has begun, however the bytes are split")
    func completeScans() async throws {
        try await Rig.run { rig in
            let gates = (2...5).map { (scan: $0, gate: Gate()) }
            let url = rig.server.route("/a", jpeg.response(holding: gates))
            async let result = rig.manager.retrieveImage(
                with: url,
                options: [.progressiveJPEG(collector.progressive(fastest: true))]
            )
            for (index, hold) in gates.enumerated() {
                await collector.wait(for: index + 1)
                hold.gate.open()
            }
            _ = try await result
            #expect(jpeg.scans(collector).prefix(4) == [1, 2, 3, 4])
        }
    }

    @Test("In fastest mode only the latest scan that arrived during the work on a preview is shown next")
    func fastestMode() async throws {
        try await Rig.run { rig in
            let first = Gate(), last = Gate(), working = Gate(), go = DispatchSemaphore(value: 0)
            let url = rig.server.route("/a", jpeg.response(holding: [(2, first), (8, last)]))
            let processor = PreviewProcessor { number in
                working.open()
                if number == 1 { go.wait() }
                return true
            }
            let eight = jpeg.bytes(beginning: 8)
            let all = Gate()
            let options: KingfisherOptionsInfo = [
                .progressiveJPEG(collector.progressive(fastest: true)), .processor(processor),
                ProgressiveSample.blockingQueue,
            ]
            async let result = rig.manager.retrieveImage(
                with: url,
                options: options,
                progressBlock: { received, _ in if received == eight { all.open() } }
            )
            await working.wait()
            first.open()
            await all.wait()
            go.signal()
            await collector.wait(for: 2)
            #expect(jpeg.scans(collector) == [1, 7])
            last.open()
            _ = try await result
        }
    }

    @Test("The first preview is shown at once, the next one after the interval")
    func interval() async throws {
        try await withTemporaryDirectory { directory in
            let clock = ManualClock(), started = Promise<FakeTransfer>()
            let transport = FakeTransport { started.fulfil($0) }
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "test", transport: transport),
                cache: try ImageCache(name: "test", cacheDirectoryURL: directory),
                clock: clock
            )
            manager.defaultOptions = [.callbackQueue(.untouch)]
            let completed = Gate()
            let options: KingfisherOptionsInfo = [.progressiveJPEG(collector.progressive(fastest: true, interval: 2))]
            manager.retrieveImage(with: ProgressiveSample.anyURL, options: options) { _ in completed.open() }
            let transfer = await started.value
            transfer.receive(try plainResponse(length: nil))
            transfer.send(jpeg.data.prefix(jpeg.bytes(beginning: 2)))
            await collector.wait(for: 1)
            await clock.waitForSleepers()
            transfer.send(jpeg.data[jpeg.bytes(beginning: 2)..<jpeg.bytes(beginning: 4)])
            clock.advance(by: .milliseconds(1900))
            #expect(clock.sleeperCount == 1 && collector.images.count == 1)
            clock.advance(by: .milliseconds(100))
            await collector.wait(for: 2)
            #expect(jpeg.scans(collector) == [1, 3])
            transfer.send(jpeg.data.dropFirst(jpeg.bytes(beginning: 4)))
            // The load does not wait for the interval.
            transfer.complete()
            await completed.wait()
        }
    }

    @Test("The first previews are blurred, less and less", arguments: [(2, 6.0), (3, 2), (4, 2), (5, 2)])
    func blurRadius(count: Int, radius: Double) {
        #expect(ImageProgressive().blurRadius(scanCount: count) == radius)
        #expect(ImageProgressive().blurRadius(scanCount: 6) == nil)
        let sharp = ImageProgressive(isBlur: false, isFastestScan: true, scanInterval: 0)
        #expect(sharp.blurRadius(scanCount: count) == nil)
    }

    @Test("Previews are blurred as decoded images, scan by scan")
    func blurredFirstPreview() async throws {
        try await Rig.run { rig in
            let last = Gate()
            let url = rig.server.route("/a", jpeg.response(holding: [(6, last)]))
            async let result = rig.manager.retrieveImage(
                with: url,
                options: [.progressiveJPEG(collector.progressive(blur: true))]
            )
            await collector.wait(for: 5)
            last.open()
            _ = try await result
            for (scan, radius) in [(1, 6.0), (2, 2), (3, 2), (4, 2), (5, nil)] {
                let plain = try jpeg.picture(after: scan)
                let expected = try #require(radius.map { plain.blurred(radius: $0) } ?? plain)
                #expect(collector.images[scan - 1].isSame(as: expected), "scan \(scan)")
            }
        }
    }

    @Test("Each load's previews come from its own processor, with its own scale, on its queue")
    func processorPerLoad() async throws {
        try await Rig.run { rig in
            let last = Gate(), other = PreviewCollector()
            let url = rig.server.route("/a", jpeg.response(holding: [(3, last)]))
            let queue = DispatchQueue(label: "pixels"), key = DispatchSpecificKey<Bool>()
            queue.setSpecific(key: key, value: true)
            let isOnQueue = Box(true)
            let processor = PreviewProcessor { _ in
                let isHere = DispatchQueue.getSpecific(key: key) == true
                isOnQueue.change { $0 = $0 && isHere }
                return true
            }
            let small = ResizingImageProcessor(referenceSize: CGSize(width: 12, height: 8))
            async let one = rig.manager.retrieveImage(
                with: url,
                options: [
                    .progressiveJPEG(collector.progressive()), .processor(processor),
                    .processingQueue(.dispatch(queue)),
                    .scaleFactor(2),
                ]
            )
            async let two = rig.manager.retrieveImage(
                with: url,
                options: [.progressiveJPEG(other.progressive()), .processor(small)]
            )
            await collector.wait(for: 2)
            await other.wait(for: 2)
            last.open()
            _ = try await (one, two)
            #expect(rig.server.count("/a") == 1)
            #expect(collector.images.allSatisfy { $0.scale == 2 && $0.pixelWidth == 96 })
            #expect(isOnQueue.value)
            #expect(other.images.allSatisfy { $0.scale == 1 && $0.pixelWidth == 12 })
            #expect(jpeg.scans(collector).prefix(2) == [1, 2])
        }
    }

    @Test("A failed preview is left out, and no preview is cached or passed to the completion handler")
    func failedPreviews() async throws {
        try await Rig.run { rig in
            let last = Gate()
            let url = rig.server.route("/a", jpeg.response(holding: [(4, last)]))
            let processor = PreviewProcessor { $0 != 2 }
            let results = Box<[RetrieveImageResult]>([]), done = Gate()
            let options: KingfisherOptionsInfo = [
                .progressiveJPEG(collector.progressive()), .processor(processor), .waitForCache,
            ]
            rig.manager.retrieveImage(with: url, options: options) { result in
                if let value = try? result.get() { results.change { $0.append(value) } }
                done.open()
            }
            await collector.wait(for: 2)
            #expect(jpeg.scans(collector) == [1, 3])
            #expect(rig.cache.imageCachedType(forKey: url.absoluteString, processorIdentifier: "preview") == .none)
            #expect(results.value.isEmpty && rig.files.isEmpty)
            last.open()
            await done.wait()
            let whole = try Codecs.decode(jpeg.data)
            #expect(results.value.map { $0.image.isSame(as: whole) } == [true])
            #expect(rig.files.count == 1)
        }
    }

    @Test("Damaged bytes end the previews, but not the load")
    func damagedData() async throws {
        var data = jpeg.data
        data[jpeg.scans[2] + 5] = 77  // a component that does not exist
        try await Rig.run { [data] rig in
            let last = Gate()
            rig.server.route("/a", TestResponse.data(data).with { $0.interruption = .hold(after: 1500, until: last) })
            let url = rig.server.url("/a")
            async let result = rig.manager.retrieveImage(
                with: url,
                options: [.progressiveJPEG(collector.progressive())]
            )
            await collector.wait(for: 2)
            last.open()
            // The load ends with the image before the damage, as for any truncated file, or with an error.
            _ = try? await result
            #expect(jpeg.scans(collector) == [1, 2])
        }
    }

    @Test("The callback decides what a hosting view shows; without a hosting view its result is ignored")
    func hostingCallback() async throws {
        try await Rig.run { rig in
            let last = Gate(), done = Gate(), other = SampleImage.gradient(3, 3), shown = PreviewCollector()
            rig.server.route("/a", jpeg.response(holding: [(6, last)]))
            let collector = PreviewCollector { number in
                switch number {
                case 2: .keepCurrent
                case 3: .replace(other)
                case 4: .replace(nil)
                default: .default
                }
            }
            rig.manager.retrieveImage(
                with: Source.network(rig.server.url("/a")),
                parsed: rig.manager.parsed([.progressiveJPEG(collector.progressive())]),
                previewSetter: { shown.note($0) },
                completionHandler: { _ in done.open() }
            )
            await shown.wait(for: 4)
            last.open()
            await done.wait()
            #expect(jpeg.scans(collector).prefix(5) == [1, 2, 3, 4, 5])
            let images = shown.images
            #expect(jpeg.scan(of: images[0]) == 1)
            #expect(images[1].isSame(as: other))
            #expect(images[2].cgImage == nil)
            #expect(jpeg.scan(of: images[3]) == 5)
            #expect(shown.isAlwaysMain)
        }
    }

    @Test("A load that joins late gets previews of the scans that have arrived") func lateLoad() async throws {
        try await Rig.run { rig in
            let last = Gate(), late = PreviewCollector()
            let url = rig.server.route("/a", jpeg.response(holding: [(4, last)]))
            async let one = rig.manager.retrieveImage(with: url, options: [.progressiveJPEG(collector.progressive())])
            await collector.wait(for: 3)
            async let two = rig.manager.retrieveImage(with: url, options: [.progressiveJPEG(late.progressive())])
            await late.wait(for: 3)
            #expect(jpeg.scans(late) == [1, 2, 3])
            last.open()
            _ = try await (one, two)
            #expect(rig.server.count("/a") == 1)
        }
    }
}
