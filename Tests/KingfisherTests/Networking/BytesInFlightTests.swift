// The budget for bytes in flight, which have arrived and are not yet processed: alone, and in a downloader.

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
    @Test("Reading within the budget does not wait, and a share returns its bytes when it is released") func shares() {
        let budget = BytesInFlight(limit: 100)
        do {
            let (first, second) = (budget.share(), budget.share())
            #expect(first.add(60) == nil)
            #expect(second.add(40) == nil)
            #expect(budget.used == 100)
            second.stopReading()
            #expect(budget.used == 100)
            withExtendedLifetime((first, second)) {}
        }
        #expect(budget.used == 0)
    }

    @Test("Beyond the budget, reading waits until other shares return their bytes") func waiting() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let second = budget.share()
        #expect(first?.add(90) == nil)
        let promise = try #require(second.add(30))
        #expect(budget.used == 120)
        #expect(!promise.isFulfilled)
        first = nil
        #expect(promise.isFulfilled)
        #expect(budget.used == 30)
        withExtendedLifetime(second) {}
    }

    @Test("The first share may exceed the budget; when it is released, the next share becomes the first") func first()
        throws
    {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let (second, third) = (budget.share(), budget.share())
        #expect(first?.add(500) == nil)
        let promises = [try #require(second.add(600)), try #require(third.add(1))]
        #expect(promises.map(\.isFulfilled) == [false, false])
        first = nil
        #expect(promises.map(\.isFulfilled) == [true, false])
        withExtendedLifetime((second, third)) {}
    }

    @Test("Raising the limit resumes the shares that fit into it") func raisedLimit() throws {
        let budget = BytesInFlight(limit: 100)
        let (first, second) = (budget.share(), budget.share())
        #expect(first.add(100) == nil)
        let promise = try #require(second.add(100))
        budget.limit = 199
        #expect(!promise.isFulfilled)
        budget.limit = 200
        #expect(promise.isFulfilled)
        withExtendedLifetime((first, second)) {}
    }

    @Test("A waiting share that stops reading is resumed, so that nothing waits endlessly")
    func endedWhileWaiting() throws {
        let budget = BytesInFlight(limit: 100)
        let (first, second) = (budget.share(), budget.share())
        #expect(first.add(100) == nil)
        let promise = try #require(second.add(80))
        second.stopReading()
        #expect(promise.isFulfilled)
        #expect(budget.used == 180)
        withExtendedLifetime((first, second)) {}
    }

    @Test("A complete body counts until it is processed, and the next share does not become the first before that")
    func unprocessed() throws {
        let budget = BytesInFlight(limit: 100)
        var first: BytesInFlight.Share? = budget.share()
        let second = budget.share()
        #expect(first?.add(100) == nil)
        let promise = try #require(second.add(80))
        first?.stopReading()
        #expect(!promise.isFulfilled)
        #expect(budget.used == 180)
        first = nil
        #expect(promise.isFulfilled)
        withExtendedLifetime(second) {}
    }
}

@Suite(.timeLimit(.minutes(5))) struct BytesInFlightDownloadTests {
    /// A body larger than the buffers of the system between two sockets.
    private static let body = Data(count: 16 << 20)

    /// A processor whose runs wait, on a queue of their own, until the test lets them continue.
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
        "Downloads wait while too many of the bytes that arrived are not processed",
        arguments: [TestResponse.Framing.contentLength, .chunked]
    )
    func waiting(framing: TestResponse.Framing) async throws {
        try await withDownloader { server, downloader in
            let held = Held()
            // Room for more than one body, and for less than all of them.
            downloader.maxBytesInFlight = 40 << 20
            for index in 0..<8 {
                let response = TestResponse.data(Self.body).with { ($0.framing, $0.pieceSize) = (framing, 64 << 10) }
                server.route("/\(index)", response)
            }
            let callers = (0..<8).map { Caller.load(server.url("/\($0)"), with: downloader, held.options) }
            for index in 0..<8 { await server.waitForRequests(to: "/\(index)") }
            // All downloads wait once the number of bytes that the server has sent does not change any more.
            var (last, sent) = (-1, 0)
            while last != sent || held.runs.value == 0 {
                try await Task.sleep(for: .milliseconds(200))
                (last, sent) = (sent, server.requests.reduce(0) { $0 + $1.bytesSent })
            }
            #expect(held.runs.value <= 3)
            // The budget, the rest of the body that may exceed it as the first, and a piece of each of the others.
            #expect(downloader.queueStatus.bytesInFlight <= 64 << 20)
            held.letGo(8)
            for caller in callers { #expect(await caller.data?.count == Self.body.count) }
            #expect(held.runs.value == 8)
            try await until("the bytes are given back") { downloader.queueStatus.bytesInFlight == 0 }
        }
    }

    @Test("Bodies larger than the budget arrive, one after the other") func larger() async throws {
        try await withDownloader { server, downloader in
            downloader.maxBytesInFlight = 1 << 20
            for index in 0..<3 { server.route("/\(index)", .data(Self.body)) }
            let callers = (0..<3).map { Caller.load(server.url("/\($0)"), with: downloader) }
            for caller in callers { #expect(await caller.data?.count == Self.body.count) }
            try await until("the bytes are given back") { downloader.queueStatus.bytesInFlight == 0 }
        }
    }

    @Test("Downloads that fail or are cancelled return their bytes to the budget") func givenBack() async throws {
        try await withDownloader { server, downloader in
            downloader.maxBytesInFlight = 4 << 20
            server.route("/cut", .data(Self.body).with { $0.interruption = .cut(after: 8 << 20) })
            server.route("/stalled", .data(Self.body).with { $0.interruption = .stall(after: 8 << 20) })
            let cut = Caller.load(server.url("/cut"), with: downloader)
            #expect(await cut.error != nil)
            let stalled = Caller.load(server.url("/stalled"), with: downloader)
            await server.waitForRequests(to: "/stalled")
            try await until("bytes arrive") { downloader.queueStatus.bytesInFlight > 0 }
            stalled.cancel()
            #expect(await stalled.error != nil)
            try await until("the bytes are given back") { downloader.queueStatus.bytesInFlight == 0 }
        }
    }
}
