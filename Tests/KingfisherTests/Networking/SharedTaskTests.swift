// Tasks that several subscribers share: joining, leaving, priorities, and the end of the task.

import Dispatch
import Foundation
import FoundationNetworking
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct SharedTaskTests {
    private typealias Work = SharedTask<String, Int>
    private let tasks = SharedTasks<String, Int>()
    private let source = Source.network(fakeURL)
    private static let unwanted = KingfisherError.cacheError(reason: .imageNotExisting(key: "a"))

    private func subscriber(
        priority: Float = 0.5,
        sharesValuesSince: ContinuousClock.Instant? = nil,
        isWanted: @escaping @Sendable () -> Bool = { true }
    ) -> Subscriber<Int> {
        Subscriber(
            observer: TestObserver(isWanted: isWanted),
            priority: priority,
            sharesValuesSince: sharesValuesSince
        )
    }

    /// Subscribes now, on this thread, and starts the operation if there is none.
    private func subscribe(
        _ subscriber: Subscriber<Int>? = nil,
        use: @escaping @Sendable (Int) async -> Int = { $0 },
        _ operation: @escaping @Sendable (Work) async -> Int
    ) -> Task<Result<Int, KingfisherError>, Never> {
        let subscriber = subscriber ?? self.subscriber()
        return Task.immediate { [tasks, source] in
            await Result { () async throws(KingfisherError) in
                try await tasks.withValue(for: "a", subscriber) {
                    Work("a", .load(of: source, unwanted: Self.unwanted), in: tasks) { work in await operation(work) }
                } use: { value, _ in
                    await use(value)
                }
            }
        }
    }

    @Test("Subscribers share one run, and a subscriber that comes after its end starts another")
    func sharing() async throws {
        let runs = Counter(), gate = Gate()
        let waiting = (0..<50).map { _ in
            subscribe { _ in
                await gate.wait()
                return runs.add()
            }
        }
        #expect(tasks.all.count == 1)
        gate.open()
        for task in waiting { #expect(try await task.value.get() == 1) }
        #expect(tasks.all.isEmpty)
        #expect(try await subscribe { _ in runs.add() }.value.get() == 2)
    }

    @Test("A cancelled subscriber returns at once, and the others get the value") func leaving() async throws {
        let gate = Gate()
        let tasks = (0..<3).map { _ in
            subscribe { _ in
                await gate.wait()
                return 1
            }
        }
        tasks[0].cancel()
        await #expect(throws: KingfisherError.self) { try await tasks[0].value.get() }
        gate.open()
        for task in tasks[1...] { #expect(try await task.value.get() == 1) }
    }

    @Test("The work is cancelled when its last subscriber leaves") func lastToLeave() async {
        let cancelled = Gate()
        let waiting = (0..<2).map { _ in
            subscribe { _ in
                await withTaskCancellationHandler {
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
                return 1
            }
        }
        waiting[0].cancel()
        #expect(tasks.all.count == 1)
        waiting[1].cancel()
        await cancelled.wait()
        #expect(tasks.all.isEmpty)
    }

    @Test("Who subscribes does not share work whose subscriber was stopped, and has yet to leave")
    func abandoned() async throws {
        let gate = Gate(), load = Box<Work?>(nil), calls = SharedTasks<String, Int>()
        let waiting = subscribe { work in
            load.value = work
            await gate.wait()
            return 0
        }
        /// A call for the load that waits, or for one of its own.
        func call(_ observer: Work?, _ operation: @escaping @Sendable () async -> Int) async throws -> Int {
            try await calls.value(for: "a", Subscriber(observer: observer, priority: 0.5)) {
                Work("a", .load(of: source, unwanted: Self.unwanted), in: calls) { _ in await operation() }
            }
        }
        let first = Task.immediate {
            try await call(load.value) {
                await gate.wait()
                return 1
            }
        }
        waiting.cancel()
        _ = await waiting.value
        #expect(try await call(nil) { 2 } == 2)
        gate.open()
        #expect(try await first.value == 1 && calls.all.isEmpty)
    }

    @Test("The work is as urgent as its most urgent subscriber") func priorities() async throws {
        let gate = Gate()
        let quiet = subscribe(subscriber(priority: 0)) { work in
            await gate.wait()
            return Task.currentPriority == .high && work.priority == 1 ? 1 : 0
        }
        let urgent = subscribe(subscriber(priority: 1)) { _ in 0 }
        let late = subscribe(subscriber(priority: 0.5)) { _ in 0 }
        gate.open()
        for task in [quiet, urgent, late] { #expect(try await task.value.get() == 1) }
    }

    @Test("Who lowers its own priority does not lower that of others") func loweredPriority() async throws {
        let gate = Gate(), subscriptions = Box<[any TaskSubscription]>([])
        func subscriber(_ priority: Float) -> Subscriber<Int> {
            Subscriber(
                observer: TestObserver(subscribed: { subscription in subscriptions.value.append(subscription) }),
                priority: priority
            )
        }
        let waiting = [0.5, 1].map { priority in
            subscribe(subscriber(priority)) { _ in
                await gate.wait()
                return 1
            }
        }
        let task = try #require(tasks.all.first)
        #expect(task.priority == 1)
        subscriptions.value[0].setPriority(0)
        #expect(task.priority == 1)
        subscriptions.value[1].setPriority(0.25)
        #expect(task.priority == 0.25)
        waiting[1].cancel()
        _ = await waiting[1].value
        #expect(task.priority == 0)
        gate.open()
        #expect(try await waiting[0].value.get() == 1)
    }

    @Test("The lowest priority is that of the transfer, and is not taken for none") func lowestPriority() async throws {
        let transport = FakeTransport { _ in }
        let downloader = ImageDownloader(name: "test", transport: transport)
        let task = downloader.downloadImage(with: fakeURL, options: [.downloadPriority(0)], completionHandler: nil)
        while transport.transfers.first?.priority != 0 { await Task.yield() }
        task.cancel()
    }

    @Test("A load that becomes more urgent before its transfer begins makes the transfer as urgent")
    func raisedBeforeTransfer() async throws {
        let transport = FakeTransport { _ in }, asked = Gate(), gate = Gate()
        try await withTemporaryDirectory { directory in
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "test", transport: transport),
                cache: try ImageCache(name: "test", cacheDirectoryURL: directory)
            )
            let modifier = WaitingModifier(asked: asked, gate: gate)
            func load(_ priority: Float) -> DownloadTask? {
                let options: KingfisherOptionsInfo = [.requestModifier(modifier), .downloadPriority(priority)]
                return manager.retrieveImage(with: source, options: options, completionHandler: nil)
            }
            let first = load(0.1)
            await asked.wait()
            let second = load(1)
            gate.open()
            while transport.transfers.first?.priority != 1 { await Task.yield() }
            #expect(transport.startCount == 1)
            first?.cancel()
            second?.cancel()
        }
    }

    @Test("Transfers whose bytes are being worked on are cancelled with all others, also when another one has begun")
    func displaced() async throws {
        let transport = FakeTransport { _ in }, working = Gate(), gate = DispatchSemaphore(value: 0)
        let downloader = ImageDownloader(name: "test", transport: transport)
        let modifier = HoldingModifier(working: working, gate: gate)
        let codes = Box<[Int]>([])
        func load() {
            downloader.downloadImage(with: fakeURL, options: [.dataModifier(modifier), .callbackQueue(.untouch)]) {
                if case .failure(let error) = $0 { codes.change { $0.append(error.errorCode) } }
            }
        }
        load()
        transport.transfers[0].play(.data(try SampleImage.png()))
        await working.wait()
        load()
        #expect(transport.startCount == 2)
        downloader.cancelAll()
        while codes.value.count < 2 { await Task.yield() }
        #expect(codes.value == [1003, 1003])
        for _ in 0..<2 { gate.signal() }
    }

    @Test("Subscribers are notified from where their value is loaded, also those that join later")
    func origins() async {
        let seen = Counter(), served = Gate(), gate = Gate()
        func counting() -> Subscriber<Int> {
            Subscriber(observer: TestObserver(started: { _ in seen.add() }), priority: 0.5)
        }
        let first = subscribe(counting()) { work in
            work.didStart(from: .provider)
            served.open()
            await gate.wait()
            return 1
        }
        await served.wait()
        #expect(seen.value == 1)
        let second = subscribe(counting()) { _ in 2 }
        #expect(seen.value == 2)
        gate.open()
        _ = await (first.value, second.value)
    }

    @Test("A task whose subscribers are all superseded ends, and a later subscriber starts another") func superseded()
        async throws
    {
        let isWanted = Box(true), begun = Gate(), asked = Gate()
        let first = subscribe(subscriber(isWanted: { isWanted.value })) { work in
            begun.open()
            await asked.wait()
            return work.isWanted ? 1 : 0
        }
        await begun.wait()
        isWanted.value = false
        asked.open()
        await #expect(throws: KingfisherError.self) { try await first.value.get() }
        #expect(try await subscribe { _ in 2 }.value.get() == 2)
    }

    @Test("A value in use is shared with loads that began before it arrived, and with none after its use")
    func arrived() async throws {
        let start = ContinuousClock.now, using = Gate(), release = Gate(), runs = Counter()
        let first = subscribe(subscriber(sharesValuesSince: start)) {
            using.open()
            await release.wait()
            return $0
        } _: { _ in
            runs.add()
        }
        await using.wait()
        #expect(try await subscribe(subscriber(sharesValuesSince: start)) { _ in runs.add() }.value.get() == 1)
        #expect(try await subscribe(subscriber(sharesValuesSince: .now)) { _ in runs.add() }.value.get() == 2)
        release.open()
        #expect(try await first.value.get() == 1)
        #expect(try await subscribe(subscriber(sharesValuesSince: start)) { _ in runs.add() }.value.get() == 3)
        #expect(tasks.all.isEmpty)
    }

    @Test("Closing fails all subscribers and refuses later ones") func closing() async {
        let never = Gate()
        let waiting = subscribe { _ in
            await never.wait()
            return 1
        }
        tasks.close(.requestError(reason: .invalidated))
        await #expect(throws: KingfisherError.self) { try await waiting.value.get() }
        let refused = subscribe { _ in 1 }
        await #expect(throws: KingfisherError.self) { try await refused.value.get() }
        never.open()
    }

    @Test(
        "Download priorities become priorities of tasks",
        arguments: [
            (-1, TaskPriority.background), (0, .background), (0.24, .background), (0.25, .utility), (0.5, .medium),
            (0.74, .medium), (0.75, .high), (1, .high), (.infinity, .high), (-.infinity, .background), (.nan, .medium),
        ] as [(Float, TaskPriority)]
    )
    func downloadPriorities(download: Float, task: TaskPriority) {
        #expect(TaskPriority(downloadPriority: download) == task)
    }
}

/// Changes requests once a gate is open.
private struct WaitingModifier: AsyncImageDownloadRequestModifier, Hashable {
    let asked: Gate
    let gate: Gate
    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? { nil }

    func modified(for request: URLRequest) async -> URLRequest? {
        asked.open()
        await gate.wait()
        return request
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.gate === rhs.gate }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(gate)) }
}

/// Holds bytes back until a gate is open.
private struct HoldingModifier: ImageDownloadDataModifier, Hashable {
    let working: Gate
    let gate: DispatchSemaphore

    func modified(_ data: Data, for task: SessionDataTask) -> Data? {
        working.open()
        gate.wait()
        return data
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.gate === rhs.gate }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(gate)) }
}
