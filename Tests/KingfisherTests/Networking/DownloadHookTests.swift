// Code of the user on the way of a download: modifiers of requests and of bytes, and the observer of pieces.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct DownloadHookTests {
    private struct NoToken: Error, LocalizedError {
        var errorDescription: String? { "no token" }
    }

    private struct Authorizing: ThrowingImageDownloadRequestModifier {
        let token: String?
        func modified(for request: URLRequest) async throws -> URLRequest {
            guard let token else { throw NoToken() }
            var request = request
            request.setValue(token, forHTTPHeaderField: "Authorization")
            return request
        }
    }

    @Test("A modifier that throws fails the load with its error, and nothing is sent") func throwing() async throws {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            let refused = Caller.load(server.url("/a"), with: downloader, [.requestModifier(Authorizing(token: nil))])
            let error = try #require(await refused.error)
            guard case .requestError(.modifierFailed(let inner)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(inner is NoToken && error.errorCode == 1103 && "\(error)".contains("no token"))
            #expect(server.requests.isEmpty)
            let sent = Caller.load(server.url("/a"), with: downloader, [.requestModifier(Authorizing(token: "t"))])
            #expect(await sent.data == someBytes)
            #expect(server.lastRequest("/a")?.header("Authorization") == "t")
        }
    }

    @Test("A modifier can set method, header fields and body") func fields() throws {
        var request = URLRequest(url: fakeURL)
        request.setValue("old", forHTTPHeaderField: "X-Name")
        let plain = try #require(AnyModifier(headers: ["x-name": "new"]).modified(for: request))
        #expect(plain.httpMethod == "GET" && plain.httpBody == nil)
        #expect(plain.value(forHTTPHeaderField: "X-Name") == "new")
        let post = try #require(AnyModifier(method: "POST", body: Data("b".utf8)).modified(for: request))
        #expect(post.httpMethod == "POST" && post.httpBody == Data("b".utf8))
        #expect(post.value(forHTTPHeaderField: "X-Name") == "old")
    }

    @Test("A data modifier changes the bytes before the delegate has them, once a transfer") func dataModifier()
        async throws
    {
        try await withDownloader { server, downloader in
            let gate = Gate(), runs = Counter()
            struct Reversing: ImageDownloadDataModifier, Hashable {
                let runs: Counter
                func modified(_ data: Data, for task: SessionDataTask) -> Data? {
                    runs.add()
                    return Data(data.reversed())
                }
                static func == (lhs: Self, rhs: Self) -> Bool { lhs.runs === rhs.runs }
                func hash(into hasher: inout Hasher) {}
            }
            let delegate = RecordingDelegate(change: { $0 + Data([33]) })
            downloader.delegate = delegate
            server.route("/a", TestResponse.data(Data([1, 2, 3])).with { $0.gate = gate })
            let option = KingfisherOptionsInfoItem.dataModifier(Reversing(runs: runs))
            let callers = (0..<2).map { _ in Caller.load(server.url("/a"), with: downloader, [option]) }
            let plain = Caller.load(server.url("/a"), with: downloader)
            gate.open()
            for caller in callers { #expect(await caller.data == Data([3, 2, 1, 33])) }
            #expect(await plain.data == Data([1, 2, 3, 33]))
            #expect(runs.value == 1 && server.count("/a") == 2)
        }
    }

    @Test("A data modifier that refuses fails the load; the delegate is notified of the end only") func dataRefused()
        async throws
    {
        try await withDownloader { server, downloader in
            server.route("/a", .data(someBytes))
            let delegate = RecordingDelegate()
            downloader.delegate = delegate
            let caller = Caller.load(
                server.url("/a"),
                with: downloader,
                [.dataModifier(AnyDataModifier { _, _ in nil })]
            )
            #expect(await caller.error?.errorCode == 2004)
            #expect(delegate.log.value == ["will", "status 200", "response", "finish with error"])
        }
    }

    @Test(
        "The observer is given every piece once, after the task has it, through the manager too",
        arguments: [false, true]
    )
    func observer(throughManager: Bool) async throws {
        try await Rig.run { rig in
            let image = try SampleImage.png()
            let url = rig.server.route("/a.png", TestResponse.data(image).with { $0.pieceSize = image.count / 3 })
            let pieces = Box(Data())
            let observe = KingfisherOptionsInfoItem.onDataReceived { task, data in
                pieces.change { $0 += data }
                #expect(task.mutableData == pieces.value)
            }
            if throughManager {
                _ = try await rig.manager.retrieveImage(with: url, options: [observe])
            } else {
                _ = try await rig.manager.downloader.downloadImage(with: url, options: [observe])
            }
            #expect(pieces.value == image)
        }
    }

    @Test("Progress that the screen cannot show is left out, the last one never") func throttled() async throws {
        let counts = Box<[Int64]>([])
        let made = ProgressRelay({ received, _ in counts.change { $0.append(received) } }, before: nil)
        let relay = try #require(made)
        let task = SessionDataTask(URLRequest(url: fakeURL))
        await MainActor.run {
            // While the main queue is busy, reports take the place of each other.
            for received in 1...1_000 {
                relay.report(ReceivedPiece(task: task, data: Data(), received: Int64(received), expected: 1_000))
            }
        }
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(counts.value == [1_000])
    }

    @Test("Each subscriber's image is processed on its own processing queue")
    func processingQueues() async throws {
        let gate = Gate()
        try await withDownloader { server, downloader in
            server.route("/a", TestResponse.data(someBytes).with { $0.gate = gate })
            let key = DispatchSpecificKey<Int>(), seen = Box<[Int?]>([])
            let queues = [1, 2].map { number in
                let queue = DispatchQueue(label: "queue \(number)")
                queue.setSpecific(key: key, value: number)
                return queue
            }
            var processor = NamedProcessor()
            processor.onRun = { seen.change { $0.append(DispatchQueue.getSpecific(key: key)) } }
            let callers = queues.map {
                Caller.load(
                    server.url("/a"),
                    with: downloader,
                    [.processor(processor), .processingQueue(.dispatch($0))]
                )
            }
            gate.open()
            for caller in callers { #expect(await caller.data == someBytes) }
            #expect(Set(seen.value) == [1, 2])
        }
    }
}
