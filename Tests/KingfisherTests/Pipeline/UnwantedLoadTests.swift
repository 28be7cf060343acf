// Superseded loads, and the tasks that users hold during a load.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct UnwantedLoadTests {
    private func options(_ info: KingfisherOptionsInfo, isWanted: @escaping @Sendable () -> Bool, _ rig: Rig)
        -> KingfisherParsedOptionsInfo
    {
        var options = rig.manager.parsed(info)
        options.load.observer = TestObserver(isWanted: isWanted)
        return options
    }

    @Test("A superseded load uses no network, no alternative and no retry strategy")
    func unwantedLoads() async throws {
        try await Rig.run { rig in
            let retries = Counter()
            struct CountingStrategy: RetryStrategy {
                let retries: Counter
                func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                    retries.add()
                    retryHandler(.retry(userInfo: nil))
                }
            }
            let alternative = Source.network(rig.server.url("/b"))
            let stale = options(
                [.alternativeSources([alternative]), .retryStrategy(CountingStrategy(retries: retries))],
                isWanted: { false },
                rig
            )
            let source = Source.network(rig.server.url("/a"))
            let error = await failure { try await rig.manager.retrieveImage(with: source, parsed: stale) }
            #expect(error?.errorCode == 3006)
            #expect(rig.server.requests.isEmpty && retries.value == 0)
        }
    }

    @Test("A load that is superseded before it fails tries no alternative")
    func unwantedAfterFailure() async throws {
        try await Rig.run { rig in
            let isWanted = Box(true)
            let source = Source.network(rig.server.url("/a"))
            let gate = Gate()
            rig.server.route("/a", TestResponse.status(500).with { $0.gate = gate })
            let options = options(
                [.alternativeSources([.network(rig.server.url("/b"))])],
                isWanted: { isWanted.value },
                rig
            )
            let manager = rig.manager
            let load = Task { await failure { try await manager.retrieveImage(with: source, parsed: options) } }
            await rig.server.waitForRequests(to: "/a")
            isWanted.value = false
            gate.open()
            #expect(await load.value?.isInvalidResponseStatusCode(500) == true)
            #expect(rig.server.count("/b") == 0)
        }
    }

    @Test(
        "Shared work continues until all subscribers are superseded, whichever of them was the first",
        arguments: [false, true]
    )
    func sharedWork(firstWants: Bool) async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let (source, manager) = (Source.network(rig.server.url("/a.png")), rig.manager)
            // Both loads join before the disk is read, because another operation on the entry comes first in its queue.
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: source.cacheKey), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let loads = [firstWants, !firstWants].map { wants in
                let options = options([], isWanted: { wants }, rig)
                return Task.immediate {
                    await Result { () async throws(KingfisherError) in
                        try await manager.retrieveImage(with: source, parsed: options)
                    }
                }
            }
            mayEnd.fulfil(())
            await slow.value
            for load in loads { #expect(try await load.value.get().image.pixelWidth == 64) }
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("Cancelling in `onDownloadTaskStarted` is error 1003, and starts no transfer")
    func cancelInTaskStarted() async throws {
        struct Cancelling: ImageDownloadRequestModifier {
            func modified(for request: URLRequest) -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
                { task in
                    #expect(task?.sessionTask != nil)
                    task?.cancel()
                }
            }
        }
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.requestModifier(Cancelling())])
            }
            #expect(error?.errorCode == 1003 && error?.isTaskCancelled == true)
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("Cancelling the task of `onDownloadTaskStarted` later is error 1003", arguments: [false, true])
    func cancelReportedTask(isDirect: Bool) async throws {
        struct Keeping: ImageDownloadRequestModifier {
            let kept: Box<DownloadTask?>
            func modified(for request: URLRequest) -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { { [kept] in kept.value = $0 } }
        }
        try await Rig.run { rig in
            let (gate, kept, url) = (Gate(), Box<DownloadTask?>(nil), rig.server.url("/a.png"))
            defer { gate.open() }
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let options: KingfisherOptionsInfo = [.requestModifier(Keeping(kept: kept))]
            let load = Task {
                await failure {
                    if isDirect {
                        _ = try await rig.manager.downloader.downloadImage(with: url, options: options)
                    } else {
                        _ = try await rig.manager.retrieveImage(with: url, options: options)
                    }
                }
            }
            await rig.server.waitForRequests(to: "/a.png")
            try #require(kept.value).cancel()
            #expect(await load.value?.errorCode == 1003)
        }
    }

    @Test("A cancelled subscriber does not keep shared work going")
    func cancelledCaller() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let (source, manager) = (Source.network(rig.server.url("/a.png")), rig.manager)
            // Both loads join before the disk is read, because another operation on the entry comes first in its queue.
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: source.cacheKey), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let wanting = manager.parsed([]), stale = options([], isWanted: { false }, rig)
            let loads = [wanting, stale].map { options in
                Task.immediate { await failure { try await manager.retrieveImage(with: source, parsed: options) } }
            }
            loads[0].cancel()
            #expect(await loads[0].value?.isTaskCancelled == true)
            mayEnd.fulfil(())
            await slow.value
            #expect(await loads[1].value?.errorCode == 3006)
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("Work that began with low priority is processed at the priority of a subscriber that joins it")
    func processingPriority() async throws {
        struct PriorityProcessor: ImageProcessor {
            let identifier = "priorities"
            let priorities: Box<[TaskPriority]>
            func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
                priorities.change { $0.append(Task.currentPriority) }
                return DefaultImageProcessor.default.process(item: item, options: options)
            }
        }
        try await Rig.run { rig in
            let (gate, priorities) = (Gate(), Box<[TaskPriority]>([]))
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let (url, manager) = (rig.server.url("/a.png"), rig.manager)
            let processor = PriorityProcessor(priorities: priorities)
            let loads = [0, 1].map { priority in
                Task.immediate {
                    _ = try await manager.retrieveImage(
                        with: url,
                        options: [.processor(processor), .downloadPriority(Float(priority))]
                    )
                }
            }
            await rig.server.waitForRequests(to: "/a.png")
            gate.open()
            for load in loads { try await load.value }
            #expect(priorities.value == [.high])
        }
    }

    @Test("An animation that another load stored with other options during a look-up is made again")
    func storedMeanwhile() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.gif")
            let (manager, key) = (rig.manager, url.absoluteString)
            let ticket = rig.cache.operations.ticket(forKey: key), mayEnd = Promise<Void>()
            let slow = Task { await ticket.run { await mayEnd.value } }
            let load = Task.immediate { try await manager.retrieveImage(with: url, options: [.onlyLoadFirstFrame]) }
            let lazy = DefaultImageProcessor.default.process(
                item: .data(try #require(try animation("animated.gif").kf.gifRepresentation())),
                options: manager.parsed([])
            )
            rig.cache.memoryStorage.store(value: try #require(lazy), forKey: key)
            mayEnd.fulfil(())
            await slow.value
            let result = try await load.value
            #expect(result.cacheType == .memory && !result.image.isAnimated && result.image.kf.imageFrameCount == 3)
            let again = try await manager.retrieveImage(with: url, options: [.onlyLoadFirstFrame])
            #expect(again.image === result.image)
        }
    }

    /// The ways in which a custom downloader can handle a call for an image.
    enum DownloaderKind: CaseIterable { case callsSuper, completesByItself, isNone }

    @Test(
        "The task of a replacement is reported once it can be cancelled, whatever the downloader",
        arguments: DownloaderKind.allCases
    )
    func replacementTasks(kind: DownloaderKind) async throws {
        // SAFETY: its only property is a constant.
        final class Downloader: ImageDownloader, @unchecked Sendable {
            let image: KFCrossPlatformImage? = nil
            nonisolated(unsafe) var completes = false
            override func downloadImage(
                with url: URL,
                options: KingfisherParsedOptionsInfo,
                completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)? = nil
            ) -> DownloadTask {
                guard completes, url.path == "/b.png" else {
                    return super.downloadImage(with: url, options: options, completionHandler: completionHandler)
                }
                let task = super.downloadImage(with: url, options: KingfisherParsedOptionsInfo(nil))
                let result = ImageLoadingResult(image: SampleImage.gradient(), url: url, originalData: Data())
                completionHandler?(.success(result))
                return task
            }
        }
        try await Rig.run { rig in
            rig.server.route("/b.png", .data(try SampleImage.png()))
            let downloader: ImageDownloader
            if kind == .isNone {
                downloader = ImageDownloader(name: "own")
            } else {
                let subclass = Downloader(name: "own")
                subclass.completes = kind == .completesByItself
                downloader = subclass
            }
            let events = Box<[String]>([]), done = Promise<Void>()
            rig.manager.retrieveImage(
                with: .network(rig.server.url("/a.png")),
                options: [.downloader(downloader), .alternativeSources([.network(rig.server.url("/b.png"))])],
                downloadTaskUpdated: { task in
                    let isLinked = task?.sessionTask != nil
                    events.change { $0.append(isLinked ? "linked" : "unlinked") }
                },
                completionHandler: { result in
                    events.change { $0.append((try? result.get()) == nil ? "failed" : "done") }
                    done.fulfil(())
                }
            )
            await done.value
            #expect(events.value == ["linked", "done"])
        }
    }

    @Test("Cancelling the reported task of a replacement ends the load with one cancellation")
    func cancelReplacementTask() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            defer { gate.open() }
            rig.server.route("/b.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let (codes, done) = (Box<[Int]>([]), Promise<Void>())
            rig.manager.retrieveImage(
                with: .network(rig.server.url("/a.png")),
                options: [.alternativeSources([.network(rig.server.url("/b.png"))])],
                downloadTaskUpdated: { $0?.cancel() },
                completionHandler: { result in
                    if case .failure(let error) = result { codes.change { $0.append(error.errorCode) } }
                    done.fulfil(())
                }
            )
            await done.value
            #expect(codes.value == [1003])
        }
    }
}
