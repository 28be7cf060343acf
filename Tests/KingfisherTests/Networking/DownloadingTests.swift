// The downloader: requests, sharing of transfers and processing, priorities, and the forms of its functions.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct DownloadingTests {
    private let silent = FakeTransport { _ in }
    private let immediate = FakeTransport { $0.play(.data(someBytes)) }

    @Test("The request is a GET that ignores caches") func plainRequest() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        downloader.downloadTimeout = 7
        downloader.trustedHosts = ["a.example"]
        let caller = Caller.load(with: downloader)
        let transfer = try #require(silent.transfers.first)
        #expect(transfer.originalRequest.url == fakeURL)
        #expect(transfer.originalRequest.httpMethod == "GET")
        #expect(transfer.originalRequest.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(transfer.policy.idleTimeout == 7)
        #expect(transfer.policy.connectTimeout == 7)
        #expect(transfer.policy.trustedHosts == ["a.example"])
        caller.cancel()
    }

    @Test("Every caller gets the bytes of its own URL") func resultPerURL() async throws {
        try await withDownloader { server, downloader in
            for index in 0..<10 { server.route("/\(index)", .data(Data([UInt8(index), 7]))) }
            let callers = (0..<10).map { Caller.load(server.url("/\($0)"), with: downloader) }
            for (index, caller) in callers.enumerated() {
                let result = try await caller.result.get()
                #expect(result.originalData == Data([UInt8(index), 7]))
                #expect(result.url == server.url("/\(index)"))
            }
            #expect(callers.allSatisfy { $0.completionCount == 1 })
        }
    }

    @Test("Concurrent downloads of one URL share one transfer") func sharedTransfer() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let callers = (0..<5).map { _ in Caller.load(with: downloader) }
        #expect(silent.startCount == 1)
        var tokens: Set<Int> = []
        for caller in callers {
            let task = await caller.task
            #expect(task.isInitialized)
            #expect(task.sessionTask?.task.transportTask === silent.transfers[0])
            tokens.insert(try #require(task.cancelToken))
        }
        #expect(tokens.count == 5)
        silent.transfers[0].play(.data(someBytes))
        for caller in callers { #expect(await caller.data == someBytes) }
        #expect(callers.allSatisfy { $0.completionCount == 1 })
    }

    @Test("Downloads from ten concurrent threads share one transfer") func concurrentSharing() async throws {
        for _ in 0..<50 {
            let transport = FakeTransport { _ in }
            let downloader = ImageDownloader(name: "test", transport: transport)
            let callers = Box<[Caller]>([])
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    DispatchQueue.concurrentPerform(iterations: 10) { _ in
                        let caller = Caller.load(with: downloader)
                        callers.change { $0.append(caller) }
                    }
                    continuation.resume()
                }
            }
            #expect(transport.startCount == 1)
            transport.transfers[0].play(.data(someBytes))
            for caller in callers.value { #expect(await caller.data == someBytes) }
        }
    }

    @Test("Requests with different credentials do not share a transfer") func differentCredentials() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        func load(_ token: String) -> Caller {
            Caller.load(
                with: downloader,
                [
                    .requestModifier(
                        AnyModifier { request in
                            var request = request
                            request.setValue(token, forHTTPHeaderField: "Authorization")
                            return request
                        }
                    )
                ]
            )
        }
        let callers = [load("a"), load("b"), load("a")]
        #expect(silent.startCount == 2)
        for (transfer, token) in zip(silent.transfers, ["a", "b"]) {
            #expect(transfer.originalRequest.value(forHTTPHeaderField: "Authorization") == token)
            transfer.play(.data(Data(token.utf8)))
        }
        #expect(await callers[0].data == Data("a".utf8))
        #expect(await callers[1].data == Data("b".utf8))
        #expect(await callers[2].data == Data("a".utf8))
    }

    @Test("Each combination of processor and scale is processed once") func processingOncePerKey()
        async throws
    {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let one = NamedProcessor("one"), two = NamedProcessor("two")
        let callers = [
            Caller.load(with: downloader, [.processor(one)]), Caller.load(with: downloader, [.processor(two)]),
            Caller.load(with: downloader, [.processor(one)]),
            Caller.load(with: downloader, [.processor(one), .scaleFactor(2)]),
        ]
        silent.transfers[0].play(.data(someBytes))
        let images = try await [
            callers[0].result.get().image, callers[1].result.get().image, callers[2].result.get().image,
        ]
        _ = await callers[3].result
        #expect(one.runs.value == 2)
        #expect(two.runs.value == 1)
        #expect(images[0] === images[2])
        #expect(images[0] !== images[1])
        for caller in callers { #expect(await caller.data == someBytes) }
    }

    @Test("Each caller's own queues are used") func queuesPerCaller() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let key = DispatchSpecificKey<String>()
        let seen = Box<[String]>([])
        let done = (0..<2).map { _ in Gate() }
        for index in 0..<2 {
            let processing = DispatchQueue(label: "processing"), callback = DispatchQueue(label: "callback")
            processing.setSpecific(key: key, value: "processing \(index)")
            callback.setSpecific(key: key, value: "callback \(index)")
            var processor = NamedProcessor("\(index)")
            processor.onRun = { seen.change { $0.append(DispatchQueue.getSpecific(key: key) ?? "nowhere") } }
            let options: KingfisherOptionsInfo = [
                .processor(processor), .processingQueue(.dispatch(processing)), .callbackQueue(.dispatch(callback)),
            ]
            downloader.downloadImage(with: fakeURL, options: options) { _ in
                seen.change { $0.append(DispatchQueue.getSpecific(key: key) ?? "nowhere") }
                done[index].open()
            }
        }
        silent.transfers[0].play(.data(someBytes))
        for gate in done { await gate.wait() }
        #expect(seen.value.sorted() == ["callback 0", "callback 1", "processing 0", "processing 1"])
    }

    @Test("A completion handler may request the failed URL again") func retryInCompletion() async throws {
        try await withDownloader { server, downloader in
            let url = server.route("/a", sequence: [.status(500), .data(someBytes)])
            let second = Promise<Caller>()
            downloader.downloadImage(with: url, options: [.callbackQueue(.untouch)]) { _ in
                second.fulfil(Caller.load(url, with: downloader))
            }
            #expect(await second.value.data == someBytes)
            #expect(server.count("/a") == 2)
        }
    }

    @Test("A finished transfer accepts no further subscriber") func finishedTransfer() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let first = Caller.load(with: downloader)
        silent.transfers[0].play(.data(someBytes))
        let late = Caller.load(with: downloader)
        #expect(silent.startCount == 2)
        silent.transfers[1].play(.data(Data([1])))
        #expect(await first.data == someBytes)
        #expect(await late.data == Data([1]))
    }

    @Test("Mutable data is a separate copy") func mutableData() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let caller = Caller.load(with: downloader)
        let transfer = silent.transfers[0]
        transfer.receive(try plainResponse(length: nil))
        let piece = Data(count: 1_000)
        transfer.send(piece)
        let task = try #require(await caller.task.sessionTask)
        let early = task.mutableData
        transfer.send(Data([3]))
        #expect(early == piece)
        #expect(task.mutableData == piece + [3])
        let addresses = [task.sharedData, task.sharedData, task.mutableData].map { data in
            data.withUnsafeBytes { $0.baseAddress }
        }
        #expect(addresses[0] == addresses[1])
        #expect(addresses[0] != addresses[2])
        transfer.complete()
        #expect(await caller.data == piece + [3])
    }

    @Test("Releasing the downloader cancels its downloads") func releasedDownloader() async throws {
        var downloader: ImageDownloader? = ImageDownloader(name: "test", transport: silent)
        let caller = Caller.load(with: try #require(downloader), keepsDownloader: false)
        downloader = nil
        #expect(await caller.error?.isTaskCancelled == true)
        #expect(silent.cancelCount == 1)
    }

    @Test("A transfer has the highest priority of its subscribers") func priority() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let low = Caller.load(with: downloader, [.downloadPriority(0.25)])
        #expect(silent.transfers[0].priority == 0.25)
        let high = Caller.load(with: downloader, [.downloadPriority(0.75)])
        #expect(await high.task.sessionTask?.task.priority == 0.75)
        high.cancel()
        #expect(silent.transfers[0].priority == 0.25)
        low.cancel()
    }

    @Test("Async forms return results and throw errors") func asyncForms() async throws {
        let downloader = ImageDownloader(name: "test", transport: immediate)
        let info: KingfisherOptionsInfo = [.processor(NamedProcessor()), .callbackQueue(.dispatch(Self.deadQueue))]
        let first = try await downloader.downloadImage(with: fakeURL, options: info)
        #expect(first.originalData == someBytes)
        let parsed = KingfisherParsedOptionsInfo(info)
        let second = try await downloader.downloadImage(with: fakeURL, options: parsed)
        #expect(second.url == fakeURL)
        let failing = ImageDownloader(name: "test", transport: FakeTransport { $0.play(.status(404)) })
        let error = await failure { () async throws(KingfisherError) in try await failing.downloadImage(with: fakeURL) }
        #expect(error?.isInvalidResponseStatusCode(404) == true)
    }

    /// A suspended queue, which runs no work.
    private static let deadQueue: DispatchQueue = {
        let queue = DispatchQueue(label: "dead")
        queue.suspend()
        return queue
    }()

    @Test("A subclass may call the handler before it returns") func synchronousSubclass() async throws {
        final class Canned: ImageDownloader, @unchecked Sendable {
            override func downloadImage(
                with url: URL,
                options: KingfisherParsedOptionsInfo,
                completionHandler: (@Sendable (DownloadResult) -> Void)?
            ) -> DownloadTask {
                completionHandler?(
                    .success(ImageLoadingResult(image: SampleImage.gradient(3, 3), originalData: someBytes))
                )
                return super.downloadImage(with: url, options: options)
            }
        }
        let downloader = Canned(name: "canned", transport: silent)
        #expect(await Caller.load(with: downloader).data == someBytes)
        let result = try await downloader.downloadImage(with: fakeURL)
        #expect(result.originalData == someBytes)
        downloader.cancelAll()
    }

    @Test("A transport may complete a transfer before its `start` returns") func synchronousTransport() async throws {
        let downloader = ImageDownloader(name: "test", transport: immediate)
        let caller = Caller.load(with: downloader)
        #expect(await caller.data == someBytes)
        #expect(await caller.task.isInitialized)
    }

    @Test("Events of a transport after the end of the transfer are ignored") func eventsAfterEnd() async throws {
        let transport = FakeTransport { transfer in
            transfer.play(.data(someBytes))
            transfer.send(Data([9]))
            transfer.complete(TransportError(.timedOut, "late"))
            transfer.complete()
        }
        let caller = Caller.load(with: ImageDownloader(name: "test", transport: transport))
        #expect(await caller.data == someBytes)
        #expect(caller.completionCount == 1)
    }

    @Test("Bytes can be downloaded without decoding an image") func bytesOnly() async throws {
        let downloader = ImageDownloader(name: "test", transport: immediate)
        #expect(try await bytes(downloader) == someBytes)
        let delegate = RecordingDelegate(change: { Data($0.reversed()) })
        downloader.delegate = delegate
        #expect(try await bytes(downloader) == Data(someBytes.reversed()))
    }

    @Test("Downloads of bytes and of images share a transfer") func bytesAndImages() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let loading = Task.immediate { try await bytes(downloader) }
        let caller = Caller.load(with: downloader)
        #expect(silent.startCount == 1)
        silent.transfers[0].play(.data(someBytes))
        #expect(await caller.data == someBytes)
        #expect(try await loading.value == someBytes)
    }

    @Test("A failed download of bytes throws") func failedBytes() async throws {
        let downloader = ImageDownloader(name: "test", transport: FakeTransport { $0.play(.status(500)) })
        let error = await failure { () async throws(KingfisherError) in try await downloader.downloadData(with: fakeURL)
        }
        #expect(error?.isInvalidResponseStatusCode(500) == true)
    }

    private func bytes(_ downloader: ImageDownloader) async throws -> Data {
        try await downloader.downloadData(with: fakeURL).data
    }
}
