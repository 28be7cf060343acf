// Loads that are not wanted any more, and tasks as users hold them while a load goes on.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct WantedTests {
    private func options(_ info: KingfisherOptionsInfo, isWanted: @escaping @Sendable () -> Bool, _ rig: Rig)
        -> KingfisherParsedOptionsInfo
    {
        var options = rig.manager.parsed(info)
        options.sourceTaskIdentifierChecker = isWanted
        return options
    }

    @Test("MGR-27: a load that is not wanted asks no network, no alternative and no strategy")
    func staleLoads() async throws {
        try await Rig.run { rig in
            let asked = Counter()
            struct Asked: RetryStrategy {
                let asked: Counter
                func retry(context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void) {
                    asked.add()
                    retryHandler(.retry(userInfo: nil))
                }
            }
            let alternative = Source.network(rig.server.url("/b"))
            let stale = options(
                [.alternativeSources([alternative]), .retryStrategy(Asked(asked: asked))],
                isWanted: { false },
                rig
            )
            let source = Source.network(rig.server.url("/a"))
            let error = await failure { try await rig.manager.retrieveImage(with: source, parsed: stale) }
            #expect(error?.errorCode == 3006)
            #expect(rig.server.requests.isEmpty && asked.value == 0)
        }
    }

    @Test("MGR-27: a load that becomes unwanted while it fails tries nothing more")
    func staleAfterAFailure() async throws {
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

    @Test("shared work is wanted as long as one caller wants it, first or not", arguments: [false, true])
    func oneWants(firstWants: Bool) async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let (source, manager) = (Source.network(rig.server.url("/a.png")), rig.manager)
            // Both have joined before the disk is looked at: another operation on the entry has its turn.
            let (place, mayEnd) = (rig.cache.order.place(forKey: source.cacheKey), Promise<Void>())
            let slow = Task { await place.run { await mayEnd.value } }
            let loads = [firstWants, !firstWants].map { wants in
                let options = options([], isWanted: { wants }, rig)
                return Task.immediate {
                    await Result { () async throws(KingfisherError) in
                        try await manager.retrieveImage(with: source, parsed: options)
                    }
                }
            }
            mayEnd.keep(())
            await slow.value
            for load in loads { #expect(try await load.value.get().image.pixelWidth == 64) }
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("cancelling in onDownloadTaskStarted is error 1003, and starts no transfer")
    func cancellingAtTheStart() async throws {
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

    @Test("cancelling the task of onDownloadTaskStarted later is error 1003", arguments: [false, true])
    func cancellingLater(isDirect: Bool) async throws {
        struct Keeping: ImageDownloadRequestModifier {
            let kept: Box<DownloadTask?>
            func modified(for request: URLRequest) -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { { [kept] in kept.value = $0 } }
        }
        try await Rig.run { rig in
            let (gate, kept, url) = (Gate(), Box<DownloadTask?>(nil), rig.server.url("/a.png"))
            defer { gate.open() }
            rig.server.route("/a.png", TestResponse.data(try Picture.png()).with { $0.gate = gate })
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

    @Test("MGR-27, MGR-34: a caller that has left does not keep a load wanted")
    func leftCallers() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try Picture.png()))
            let (source, manager) = (Source.network(rig.server.url("/a.png")), rig.manager)
            // Both have joined before the disk is looked at: another operation on the entry has its turn.
            let (place, mayEnd) = (rig.cache.order.place(forKey: source.cacheKey), Promise<Void>())
            let slow = Task { await place.run { await mayEnd.value } }
            let wanting = manager.parsed([]), stale = options([], isWanted: { false }, rig)
            let loads = [wanting, stale].map { options in
                Task.immediate { await failure { try await manager.retrieveImage(with: source, parsed: options) } }
            }
            loads[0].cancel()
            #expect(await loads[0].value?.isTaskCancelled == true)
            mayEnd.keep(())
            await slow.value
            #expect(await loads[1].value?.errorCode == 3006)
            #expect(rig.server.requests.isEmpty)
        }
    }

    @Test("what a caller that joins wants at once is processed at its priority, also if a prefetch began the load")
    func priorityOfProcessing() async throws {
        struct Asking: ImageProcessor {
            let identifier = "asking"
            let priorities: Box<[TaskPriority]>
            func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
                priorities.change { $0.append(Task.currentPriority) }
                return DefaultImageProcessor.default.process(item: item, options: options)
            }
        }
        try await Rig.run { rig in
            let (gate, priorities) = (Gate(), Box<[TaskPriority]>([]))
            rig.server.route("/a.png", TestResponse.data(try Picture.png()).with { $0.gate = gate })
            let (url, manager) = (rig.server.url("/a.png"), rig.manager)
            let processor = Asking(priorities: priorities)
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

    @Test("an animation that another load stored meanwhile is made anew if it was made otherwise")
    func storedMeanwhile() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.gif")
            let (manager, key) = (rig.manager, url.absoluteString)
            let place = rig.cache.order.place(forKey: key), mayEnd = Promise<Void>()
            let slow = Task { await place.run { await mayEnd.value } }
            let load = Task.immediate { try await manager.retrieveImage(with: url, options: [.onlyLoadFirstFrame]) }
            let lazy = DefaultImageProcessor.default.process(
                item: .data(try #require(try animation("animated.gif").kf.gifRepresentation())),
                options: manager.parsed([])
            )
            rig.cache.memoryStorage.store(value: try #require(lazy), forKey: key)
            mayEnd.keep(())
            await slow.value
            let result = try await load.value
            #expect(result.cacheType == .memory && !result.image.isAnimated && result.image.kf.imageFrameCount == 3)
            let again = try await manager.retrieveImage(with: url, options: [.onlyLoadFirstFrame])
            #expect(again.image === result.image)
        }
    }

    /// What a downloader of a user's own does when it is asked for an image.
    enum Own: CaseIterable { case callsSuper, completesByItself, isNone }

    @Test(
        "the task of a replacement is reported once it can be cancelled, whatever the downloader",
        arguments: Own.allCases
    )
    func replacementTasks(own: Own) async throws {
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
                let result = ImageLoadingResult(image: Picture.gradient(), url: url, originalData: Data())
                completionHandler?(.success(result))
                return task
            }
        }
        try await Rig.run { rig in
            rig.server.route("/b.png", .data(try Picture.png()))
            let downloader: ImageDownloader
            if own == .isNone {
                downloader = ImageDownloader(name: "own")
            } else {
                let subclass = Downloader(name: "own")
                subclass.completes = own == .completesByItself
                downloader = subclass
            }
            let events = Box<[String]>([]), done = Promise<Void>()
            rig.manager.retrieveImage(
                with: .network(rig.server.url("/a.png")),
                options: [.downloader(downloader), .alternativeSources([.network(rig.server.url("/b.png"))])],
                downloadTaskUpdated: { task in
                    let isLinked = task?.sessionTask?.task != nil
                    events.change { $0.append(isLinked ? "linked" : "unlinked") }
                },
                completionHandler: { result in
                    events.change { $0.append((try? result.get()) == nil ? "failed" : "done") }
                    done.keep(())
                }
            )
            await done.value
            #expect(events.value == ["linked", "done"])
        }
    }

    @Test("cancelling the task a replacement is reported with ends the load with one cancellation")
    func cancellingAReplacement() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            defer { gate.open() }
            rig.server.route("/b.png", TestResponse.data(try Picture.png()).with { $0.gate = gate })
            let (codes, done) = (Box<[Int]>([]), Promise<Void>())
            rig.manager.retrieveImage(
                with: .network(rig.server.url("/a.png")),
                options: [.alternativeSources([.network(rig.server.url("/b.png"))])],
                downloadTaskUpdated: { $0?.cancel() },
                completionHandler: { result in
                    if case .failure(let error) = result { codes.change { $0.append(error.errorCode) } }
                    done.keep(())
                }
            )
            await done.value
            #expect(codes.value == [1003])
        }
    }
}
