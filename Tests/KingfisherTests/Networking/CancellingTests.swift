// Cancelling downloads: by their tasks, by URL, all at once, and in races with starts and completions.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct CancellingTests {
    private let silent = FakeTransport { _ in }

    @Test("Cancelling the only subscriber stops the transfer") func cancellingOnlyCaller() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(Data(count: 100_000)).with { $0.interruption = .stall(after: 1_000) })
            let caller = Caller.load(server.url("/a"), with: downloader)
            await server.waitForRequests(to: "/a")
            caller.cancel()
            guard case .requestError(reason: .taskCancelled(let task, let token)) = await caller.error else {
                Issue.record("another error")
                return
            }
            #expect(await caller.task.sessionTask === task)
            #expect(await caller.task.cancelToken == token)
            await server.lastRequest("/a")?.disconnected.wait()
        }
    }

    @Test("Cancelling one of two subscribers does not affect the other") func cancellingOneOfTwo() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let first = Caller.load(with: downloader), second = Caller.load(with: downloader)
        first.cancel()
        #expect(await first.error?.isTaskCancelled == true)
        #expect(silent.cancelCount == 0)
        silent.transfers[0].play(.data(someBytes))
        #expect(await second.data == someBytes)
        #expect(first.completionCount == 1)
    }

    @Test("Cancelling all ends every call") func cancelAll() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let other = URL(fileURLWithPath: "/other.png")
        let callers = [
            Caller.load(with: downloader), Caller.load(with: downloader), Caller.load(other, with: downloader),
        ]
        downloader.cancelAll()
        for caller in callers { #expect(await caller.error?.isTaskCancelled == true) }
        #expect(silent.cancelCount == 2)
    }

    @Test("Cancelling a URL does not affect other URLs") func cancelURL() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let other = URL(fileURLWithPath: "/other.png")
        let cancelled = [Caller.load(with: downloader), Caller.load(with: downloader)]
        let stays = Caller.load(other, with: downloader)
        downloader.cancel(url: fakeURL)
        for caller in cancelled { #expect(await caller.error?.isTaskCancelled == true) }
        silent.transfers[1].play(.data(someBytes))
        #expect(await stays.data == someBytes)
    }

    @Test("Both the requested and the modified URL cancel a download", arguments: [false, true])
    func cancelModifiedURL(isOriginal: Bool) async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let modified = URL(fileURLWithPath: "/modified.png")
        let modifier = AnyModifier { _ in URLRequest(url: modified) }
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        downloader.cancel(url: isOriginal ? fakeURL : modified)
        #expect(await caller.error?.isTaskCancelled == true)
    }

    @Test("Cancelling twice or too late has no effect") func cancellingTwice() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let cancelled = Caller.load(with: downloader)
        cancelled.cancel()
        cancelled.cancel()
        #expect(await cancelled.error?.isTaskCancelled == true)
        let settled = Caller.load(with: downloader)
        silent.transfers[1].play(.data(someBytes))
        #expect(await settled.data == someBytes)
        settled.cancel()
        #expect(cancelled.completionCount == 1)
        #expect(settled.completionCount == 1)
    }

    @Test("A request after a cancellation gets a transfer of its own") func requestAfterCancelling() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let first = Caller.load(with: downloader)
        first.cancel()
        let second = Caller.load(with: downloader)
        #expect(silent.startCount == 2)
        silent.transfers[0].send(Data([6, 6, 6]))
        silent.transfers[0].complete(TransportError(.networkConnectionLost, "late"))
        silent.transfers[1].play(.data(someBytes))
        #expect(await first.error?.isTaskCancelled == true)
        #expect(await second.data == someBytes)
    }

    @Test("A subscriber that joins while the last one cancels still gets its result") func joiningDuringCancel()
        async throws
    {
        let transport = FakeTransport { _ in }
        let downloader = ImageDownloader(name: "test", transport: transport)
        for _ in 0..<200 {
            let leaving = Caller.load(with: downloader)
            async let cancelled: Void = Task { @concurrent in leaving.cancel() }.value
            let joining = Caller.load(with: downloader)
            await cancelled
            let current = try #require(transport.transfers.last { !$0.isCancelled })
            current.play(.data(someBytes))
            #expect(await leaving.error?.isTaskCancelled == true)
            #expect(await joining.data == someBytes)
        }
    }

    @Test("Cancelling all while downloads start ends every call") func cancelAllRacingStarts() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        for _ in 0..<200 {
            async let cancelled: Void = Task { @concurrent in downloader.cancelAll() }.value
            let caller = Caller.load(with: downloader)
            await cancelled
            downloader.cancelAll()
            #expect(await caller.error?.isTaskCancelled == true)
        }
    }

    @Test("Cancelling in `onDownloadTaskStarted` prevents the transfer") func cancelInTaskStarted() async throws {
        struct Cancelling: ImageDownloadRequestModifier {
            func modified(for request: URLRequest) -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { { $0?.cancel() } }
        }
        let delegate = RecordingDelegate()
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.delegate = delegate
        let caller = Caller.load(with: downloader, [.requestModifier(Cancelling())])
        #expect(await caller.error?.isTaskCancelled == true)
        #expect(silent.startCount == 0)
        #expect(delegate.log.value == [])
    }

    @Test("Cancelling while the request modifier runs takes effect") func cancelDuringModifier() async throws {
        struct Slow: AsyncImageDownloadRequestModifier {
            let gate: Gate
            let entered = Gate()
            let started = Counter()
            func modified(for request: URLRequest) async -> URLRequest? {
                entered.open()
                await gate.wait()
                return request
            }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { { _ in _ = started.add() } }
        }
        let downloader = ImageDownloader(name: "test", transport: silent)
        let modifier = Slow(gate: Gate())
        let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
        #expect(await !caller.task.isInitialized)
        await modifier.entered.wait()
        caller.cancel()
        #expect(await caller.error?.errorCode == 1005)
        modifier.gate.open()
        // A second load with the same modifier proves that the first one's modifier has returned without effect.
        let second = Caller.load(with: downloader, [.requestModifier(modifier)])
        await withCheckedContinuation { continuation in
            Task { @concurrent in
                while silent.startCount == 0 { await Task.yield() }
                continuation.resume()
            }
        }
        silent.transfers[0].play(.data(someBytes))
        #expect(await second.data == someBytes)
        #expect(modifier.started.value == 1)
        #expect(silent.startCount == 1)
        #expect(await !caller.task.isInitialized)
    }

    @Test("Cancelling during processing ends the call as cancelled") func cancelDuringProcessing() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let entered = Gate()
        let release = DispatchSemaphore(value: 0)
        var processor = NamedProcessor("slow")
        processor.onRun = {
            entered.open()
            release.wait()
        }
        let caller = Caller.load(with: downloader, [.processor(processor)])
        silent.transfers[0].play(.data(someBytes))
        await entered.wait()
        caller.cancel()
        #expect(await caller.error?.isTaskCancelled == true)
        release.signal()
        let next = Caller.load(with: downloader)
        silent.transfers[1].play(.data(someBytes))
        _ = await next.result
        #expect(caller.completionCount == 1)
    }

    @Test("Cancelling the surrounding task cancels the download") func taskCancellation() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let loading = Task.immediate {
            await failure { () async throws(KingfisherError) in try await downloader.downloadImage(with: fakeURL) }
        }
        #expect(silent.startCount == 1)
        loading.cancel()
        #expect(await loading.value?.isTaskCancelled == true)
        #expect(silent.cancelCount == 1)
    }

    @Test("Calls that are cancelled immediately end exactly once") func immediateCancellation() async throws {
        try await withDownloader { server, downloader in
            // Without the gate, the response could arrive on a busy machine before the task is cancelled.
            let gate = Gate()
            defer { gate.open() }
            let url = server.route("/a", .data(someBytes).with { $0.gate = gate })
            let tasks = (0..<50).map { _ in
                let task = Task {
                    await failure { () async throws(KingfisherError) in try await downloader.downloadImage(with: url) }
                }
                task.cancel()
                return task
            }
            for task in tasks { #expect(await task.value?.isCancelled == true) }
        }
    }

    @Test("A refused request never initialises its task") func refusedRequest() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let refused = Caller.load(with: downloader, [.requestModifier(AnyModifier { _ in nil })])
        #expect(await refused.error?.errorCode == 1001)
        #expect(await !refused.task.isInitialized)
        #expect(silent.startCount == 0)
    }

    @Test(
        "Cancelling stops the transfer even right after an asynchronous modifier returned",
        .timeLimit(.minutes(5))
    )
    func cancelAfterQuickModifier() async {
        struct Quick: AsyncImageDownloadRequestModifier {
            let taskStarted = Promise<Void>()
            func modified(for request: URLRequest) async -> URLRequest? { request }
            var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
                { [taskStarted] _ in taskStarted.fulfil(()) }
            }
        }
        for _ in 0..<200 {
            let started = Promise<FakeTransfer>()
            let transport = FakeTransport { started.fulfil($0) }
            let downloader = ImageDownloader(name: "test", transport: transport)
            let modifier = Quick()
            let caller = Caller.load(with: downloader, [.requestModifier(modifier)])
            let transfer = await started.value
            caller.cancel()
            #expect(await caller.error?.errorCode == 1003)
            // The transport may not have handed over the transfer yet; it is cancelled once it does.
            await transfer.cancelled.wait()
        }
    }
}
