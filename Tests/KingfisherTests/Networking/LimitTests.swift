// Limits of a downloader: time, connections and sizes; and partial content, which it accepts only if requested.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct TimeLimitTests {
    private let silent = FakeTransport { _ in }

    private func policy(_ downloader: ImageDownloader, _ info: KingfisherOptionsInfo = []) throws -> TransportPolicy {
        let count = silent.transfers.count
        let caller = Caller.load(with: downloader, info)
        defer { caller.cancel() }
        #expect(silent.transfers.count == count + 1)
        return try #require(silent.transfers.last).policy
    }

    @Test("Time limits are those of the downloader, unless an option sets another") func limits() throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.downloadTimeout = 7
        var policy = try policy(downloader)
        #expect([policy.connectTimeout, policy.idleTimeout, policy.totalTimeout] == [7, 7, nil])
        downloader.connectTimeout = 3
        downloader.totalTimeout = 90
        policy = try self.policy(downloader)
        #expect([policy.connectTimeout, policy.idleTimeout, policy.totalTimeout] == [3, 7, 90])
        policy = try self.policy(downloader, [.connectTimeout(1), .downloadTimeout(2), .totalTimeout(4)])
        #expect([policy.connectTimeout, policy.idleTimeout, policy.totalTimeout] == [1, 2, 4])
        downloader.connectTimeout = nil
        policy = try self.policy(downloader, [.downloadTimeout(2)])
        #expect([policy.connectTimeout, policy.idleTimeout, policy.totalTimeout] == [2, 2, 90])
    }

    @Test("A server that sends single bytes slowly is stopped by the limit for the total time")
    func trickle() async throws {
        try await withDownloader { server, downloader in
            downloader.totalTimeout = 0.5
            let response = TestResponse.data(Data(count: 10_000)).with {
                ($0.pieceSize, $0.pause) = (1, .milliseconds(20))
            }
            server.route("/a", response)
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error?.urlError?.code == .timedOut)
            #expect(error?.urlError?.localizedDescription.contains("longer than 0.5 seconds in all") == true)
        }
    }

    @Test("An option's limit for the total time applies to one download") func optionTotal() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate()
            defer { gate.open() }
            server.route("/a", TestResponse.data(someBytes).with { $0.gate = gate })
            let error = await Caller.load(server.url("/a"), with: downloader, [.totalTimeout(0.2)]).error
            #expect(error?.urlError?.code == .timedOut)
        }
    }

    @Test("A server that sends nothing is stopped by an option's limit") func optionIdle() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate()
            defer { gate.open() }
            server.route("/a", TestResponse.data(someBytes).with { $0.gate = gate })
            let error = await Caller.load(
                server.url("/a"),
                with: downloader,
                [.downloadTimeout(0.2), .connectTimeout(300)]
            ).error
            #expect(error?.urlError?.code == .timedOut)
            #expect(error?.urlError?.localizedDescription.contains("nothing came for 0.2 seconds") == true)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct DownloadQueueTests {
    @Test("The number of concurrent downloads may change while others wait") func concurrentDownloads() async throws {
        try await withDownloader { server, downloader in
            let gate = Gate()
            downloader.maxConcurrentDownloads = 2
            #expect(downloader.maxConcurrentDownloads == 2)
            server.route("/a") { _ in
                await gate.wait()
                return .data(someBytes)
            }
            let callers = (0..<8).map { Caller.load(server.url("/a?\($0)"), with: downloader) }
            await server.waitForRequests(2, to: "/a")
            try await until("six downloads wait") { downloader.queueStatus.waiting == 6 }
            #expect(downloader.queueStatus.running == 2)
            #expect(server.count("/a") == 2)
            downloader.maxConcurrentDownloads = 5
            await server.waitForRequests(5, to: "/a")
            try await until("five downloads run") { downloader.queueStatus.running == 5 }
            #expect(server.count("/a") == 5)
            gate.open()
            for caller in callers { #expect(await caller.data == someBytes) }
        }
    }

    @Test(
        "Waiting downloads start in the downloader's order of execution",
        arguments: [
            (ImageDownloader.ExecutionOrder.automatic, [0, 1, 2, 3]), (.oldestFirst, [0, 1, 2, 3]),
            (.newestFirst, [3, 2, 1, 0]),
        ]
    )
    func executionOrder(order: ImageDownloader.ExecutionOrder, expected: [Int]) async throws {
        try await withDownloader { server, downloader in
            let gate = Gate()
            downloader.maxConcurrentDownloads = 1
            downloader.executionOrder = order
            server.route("/hold", TestResponse.data(someBytes).with { $0.gate = gate })
            for index in 0..<4 { server.route("/\(index)", .data(someBytes)) }
            let hold = Caller.load(server.url("/hold"), with: downloader)
            await server.waitForRequests(to: "/hold")
            var callers: [Caller] = []
            for index in 0..<4 {
                callers.append(Caller.load(server.url("/\(index)"), with: downloader))
                // Each download waits before the next one is started.
                try await until("it waits") { downloader.queueStatus.waiting == index + 1 }
            }
            gate.open()
            for caller in callers + [hold] { #expect(await caller.data == someBytes) }
            #expect(server.requests.dropFirst().map(\.path) == expected.map { "/\($0)" })
        }
    }

    @Test("A redirect to another origin removes the configured header fields") func removedFields() async throws {
        try await withDownloader { other, _ in
            try await withDownloader { server, downloader in
                server.route("/a", .redirect(to: other.url("/b").absoluteString))
                server.route("/same", .redirect(to: "/c"))
                server.route("/c", .data(someBytes))
                other.route("/b", .data(someBytes))
                let modifier = AnyModifier { request in
                    var request = request
                    for field in ["Authorization", "Cookie", "X-Key", "X-Other"] {
                        request.setValue("1", forHTTPHeaderField: field)
                    }
                    return request
                }
                func kept(_ server: TestServer, _ path: String) -> [String] {
                    let request = server.lastRequest(path)
                    return ["Authorization", "Cookie", "X-Key", "X-Other"].filter { request?.header($0) != nil }
                }
                _ = await Caller.load(server.url("/a"), with: downloader, [.requestModifier(modifier)]).result
                #expect(kept(other, "/b") == ["X-Key", "X-Other"])
                downloader.fieldsRemovedAcrossOrigins = ["Authorization", "x-key"]
                _ = await Caller.load(server.url("/a"), with: downloader, [.requestModifier(modifier)]).result
                #expect(kept(other, "/b") == ["Cookie", "X-Other"])
                _ = await Caller.load(server.url("/same"), with: downloader, [.requestModifier(modifier)]).result
                #expect(kept(server, "/c") == ["Authorization", "Cookie", "X-Key", "X-Other"])
            }
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct PartialContentTests {
    private func asking(for range: String) -> KingfisherOptionsInfo {
        let modifier = AnyModifier { request in
            var request = request
            request.setValue(range, forHTTPHeaderField: "Range")
            return request
        }
        return [.requestModifier(modifier)]
    }

    private func partial(_ picture: Data, _ range: String?) -> TestResponse {
        TestResponse(status: 206, headers: range.map { ["Content-Range": $0] } ?? [:], body: picture)
    }

    @Test(
        "A partial response that was not requested, or of another range, is an error, and is not cached",
        arguments: [
            (nil, "bytes 0-99/1000"), (nil, nil), ("bytes=0-", "bytes 10-99/1000"), ("bytes=0-", nil),
            ("bytes=100-", "bytes 0-99/1000"), ("bytes=0-", "items 0-99/1000"),
        ] as [(String?, String?)]
    )
    func wrongPart(wanted: String?, given: String?) async throws {
        try await Rig.run { rig in
            // The body is a whole image: it is refused for what the response's head says.
            rig.server.route("/a", partial(try SampleImage.png(8, 8), given))
            let options = wanted.map { asking(for: $0) } ?? []
            let error = await failure {
                try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: options)
            }
            #expect(error?.isInvalidResponseStatusCode(206) == true, "\(error?.description ?? "success")")
            #expect(!rig.cache.isCached(forKey: rig.server.url("/a").absoluteString))
            #expect(rig.files.isEmpty)
        }
    }

    @Test(
        "A partial response of the requested range is accepted",
        arguments: [("bytes=0-", "bytes 0-99/100"), ("bytes=-100", "bytes 900-999/1000")]
    )
    func rightPart(wanted: String, given: String) async throws {
        try await withDownloader { server, downloader in
            server.route("/a", partial(someBytes, given))
            #expect(await Caller.load(server.url("/a"), with: downloader, asking(for: wanted)).data == someBytes)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct ResponseSizeTests {
    @Test("A small compressed body that expands above the size limit is an error") func bomb() async throws {
        try await withDownloader { server, downloader in
            downloader.maxResponseBytes = 1 << 20
            server.route("/a", TestResponse.data(Data(count: 50 << 20)).with { $0.compresses = true })
            let error = await Caller.load(server.url("/a"), with: downloader).error
            #expect(error?.errorCode == 2105)
            guard case .responseError(.responseTooLarge(_, let limit)) = error else {
                return #expect(Bool(false), "\(error?.description ?? "success")")
            }
            #expect(limit == 1 << 20)
            try await until("the bytes are given back") { downloader.queueStatus.bytesInFlight == 0 }
        }
    }

    @Test("An endless body is stopped at the size limit", arguments: [TestResponse.Framing.chunked, .untilClose])
    func endless(framing: TestResponse.Framing) async throws {
        try await withDownloader { server, downloader in
            downloader.maxResponseBytes = 1 << 20
            let response = TestResponse.data(Data(count: 10_000)).with {
                ($0.framing, $0.interruption) = (framing, .endless)
            }
            server.route("/a", response)
            #expect(await Caller.load(server.url("/a"), with: downloader).error?.errorCode == 2105)
            await server.lastRequest("/a")?.disconnected.wait()
        }
    }

    @Test("A response above the limit stops a transport that delivers it before its `start` returns")
    func synchronousTooLarge() async {
        let transport = FakeTransport { transfer in
            guard
                let response = HTTPURLResponse(
                    url: fakeURL,
                    statusCode: 200,
                    httpVersion: "HTTP/1.1",
                    headerFields: [:]
                )
            else { return }
            transfer.receive(response) { _ in transfer.send(Data(count: 200)) }
        }
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.maxResponseBytes = 100
        let error = await Caller.load(with: downloader).error
        #expect(error?.errorCode == 2105)
        #expect(transport.cancelCount == 1)
    }
}
