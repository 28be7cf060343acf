// The budget for bytes between the network and the pixels: as a value, and through a downloader and a server.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

extension Promise where Value == Void {
    fileprivate var isFulfilled: Bool { valueIfFulfilled != nil }
}

@Suite struct BytesInFlightTests {
    @Test("Shares within the budget are given at once, and returned by their release") func shares() {
        let budget = BytesInFlight(limit: 100)
        do {
            let (first, second) = (budget.share(), budget.share())
            #expect(first.take(60, isThere: false) == nil)
            #expect(second.take(40, isThere: false) == nil)
            #expect(budget.used == 100)
            second.stopReading()
            #expect(budget.used == 100)
            withExtendedLifetime((first, second)) {}
        }
        #expect(budget.used == 0)
    }

    @Test("What has no room waits until others release theirs, in the order it came") func order() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        #expect(first?.take(90, isThere: false) == nil)
        let shares = (0..<3).map { _ in budget.share() }
        let promises = try shares.map { try #require($0.take(40, isThere: false)) }
        #expect(promises.map(\.isFulfilled) == [false, false, false])
        #expect(budget.used == 90)
        first = nil
        #expect(promises.map(\.isFulfilled) == [true, true, false])
        #expect(budget.used == 80)
        withExtendedLifetime(shares) {}
    }

    @Test("The first one always goes on, also beyond the budget") func firstGoesOn() throws {
        let budget = BytesInFlight(limit: 100)
        let (first, second) = (budget.share(), budget.share())
        #expect(first.take(500, isThere: false) == nil)
        #expect(first.take(500, isThere: true) == nil)
        let promise = try #require(second.take(1, isThere: false))
        #expect(!promise.isFulfilled)
        #expect(budget.used == 1_000)
        withExtendedLifetime(first) {}
    }

    @Test("When the first one leaves, the next one is the first") func nextFirst() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let second = budget.share()
        #expect(first?.take(100, isThere: false) == nil)
        let promise = try #require(second.take(500, isThere: false))
        first = nil
        #expect(promise.isFulfilled)
        #expect(budget.used == 500)
        withExtendedLifetime(second) {}
    }

    @Test("Bytes that are there count at once, and their transfer waits") func there() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let second = budget.share()
        #expect(first?.take(90, isThere: true) == nil)
        let promise = try #require(second.take(30, isThere: true))
        #expect(budget.used == 120)
        #expect(!promise.isFulfilled)
        first = nil
        #expect(promise.isFulfilled)
        #expect(budget.used == 30)
        withExtendedLifetime(second) {}
    }

    @Test("A larger budget lets those go on that have room in it") func raisedLimit() throws {
        let budget = BytesInFlight(limit: 100)
        let (first, second) = (budget.share(), budget.share())
        #expect(first.take(100, isThere: false) == nil)
        let promise = try #require(second.take(100, isThere: false))
        budget.limit = 199
        #expect(!promise.isFulfilled)
        budget.limit = 200
        #expect(promise.isFulfilled)
        withExtendedLifetime((first, second)) {}
    }

    @Test("A share that is released while it waits takes nothing") func releasedWaiting() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        var second: BytesInFlight.Share? = budget.share()
        let third = budget.share()
        #expect(first?.take(100, isThere: false) == nil)
        _ = try #require(second?.take(80, isThere: false))
        let promise = try #require(third.take(80, isThere: false))
        second = nil
        #expect(budget.used == 100)
        first = nil
        #expect(promise.isFulfilled)
        #expect(budget.used == 80)
        withExtendedLifetime(third) {}
    }

    @Test("A body that is complete and not yet processed still counts: the next one does not become an exception")
    func unprocessed() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let second = budget.share()
        #expect(first?.take(100, isThere: false) == nil)
        let promise = try #require(second.take(80, isThere: false))
        first?.stopReading()
        #expect(!promise.isFulfilled)
        #expect(budget.used == 100)
        first = nil
        #expect(promise.isFulfilled)
        withExtendedLifetime(second) {}
    }
}

@Suite(.timeLimit(.minutes(5))) struct BytesInFlightDownloadTests {
    /// More than the system keeps between two sockets.
    private static let body = Data(count: 16 << 20)

    /// A processor whose runs wait until they are let go, on a queue of their own.
    private struct Held {
        private let semaphore = DispatchSemaphore(value: 0)
        let runs: Counter
        let options: KingfisherOptionsInfo

        init() {
            var processor = NamedProcessor()
            let semaphore = semaphore
            processor.onRun = { semaphore.wait() }
            runs = processor.runs
            let queue = DispatchQueue(label: "held", attributes: .concurrent)
            options = [.processor(processor), .processingQueue(.dispatch(queue))]
        }

        func letGo(_ count: Int) {
            for _ in 0..<count { semaphore.signal() }
        }
    }

    @Test(
        "Downloads wait while too much of what arrived is not processed",
        arguments: [TestResponse.Framing.contentLength, .chunked]
    )
    func waiting(framing: TestResponse.Framing) async throws {
        try await withDownloader { server, downloader in
            let held = Held()
            // Room for two, and one more while nothing else is read.
            downloader.maximumBytesInFlight = 40 << 20
            for index in 0..<8 {
                let response = TestResponse.data(Self.body).with { ($0.framing, $0.pieceSize) = (framing, 64 << 10) }
                server.route("/\(index)", response)
            }
            let callers = (0..<8).map { Caller.load(server.url("/\($0)"), with: downloader, held.options) }
            for index in 0..<8 { await server.waitForRequests(to: "/\(index)") }
            // Nothing else happens once the bytes that the server has sent stay the same.
            var (last, sent) = (-1, 0)
            while last != sent || held.runs.value == 0 {
                try await Task.sleep(for: .milliseconds(200))
                (last, sent) = (sent, server.requests.reduce(0) { $0 + $1.bytesSent })
            }
            #expect(held.runs.value <= 3)
            #expect(downloader.queueStatus.bytesInFlight <= 56 << 20)
            held.letGo(8)
            for caller in callers { #expect(await caller.data?.count == Self.body.count) }
            #expect(held.runs.value == 8)
            while downloader.queueStatus.bytesInFlight > 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test("A body larger than the budget arrives, alone") func larger() async throws {
        try await withDownloader { server, downloader in
            downloader.maximumBytesInFlight = 1 << 20
            for index in 0..<3 { server.route("/\(index)", .data(Self.body)) }
            let callers = (0..<3).map { Caller.load(server.url("/\($0)"), with: downloader) }
            for caller in callers { #expect(await caller.data?.count == Self.body.count) }
            while downloader.queueStatus.bytesInFlight > 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    @Test("Downloads that fail or are cancelled give their bytes back") func givenBack() async throws {
        try await withDownloader { server, downloader in
            downloader.maximumBytesInFlight = 4 << 20
            server.route("/cut", .data(Self.body).with { $0.interruption = .cut(after: 8 << 20) })
            server.route("/stalled", .data(Self.body).with { $0.interruption = .stall(after: 8 << 20) })
            let cut = Caller.load(server.url("/cut"), with: downloader)
            #expect(await cut.error != nil)
            let stalled = Caller.load(server.url("/stalled"), with: downloader)
            await server.waitForRequests(to: "/stalled")
            while downloader.queueStatus.bytesInFlight == 0 { try await Task.sleep(for: .milliseconds(2)) }
            stalled.cancel()
            #expect(await stalled.error != nil)
            while downloader.queueStatus.bytesInFlight > 0 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }
}
