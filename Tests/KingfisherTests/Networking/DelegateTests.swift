// The delegate of a downloader: its calls, what it can change and stop, and metrics.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct DelegateTests {
    private let silent = FakeTransport { _ in }
    private let immediate = FakeTransport { $0.play(.data(someBytes)) }

    private func downloader(_ delegate: RecordingDelegate?, on transport: FakeTransport) -> ImageDownloader {
        let downloader = ImageDownloader(name: "test", transport: transport)
        downloader.delegate = delegate
        return downloader
    }

    @Test("The delegate is called in order, with the image once per subscriber") func successCalls()
        async throws
    {
        let delegate = RecordingDelegate()
        let downloader = downloader(delegate, on: silent)
        let callers = [Caller.load(with: downloader), Caller.load(with: downloader)]
        silent.transfers[0].play(.data(someBytes))
        for caller in callers { #expect(await caller.data == someBytes) }
        let count = someBytes.count
        #expect(delegate.log.value == ["will", "status 200", "response", "data \(count)", "finish", "image", "image"])
        #expect(delegate.finishes.value.count == 1)
        #expect((delegate.finishes.value.first?.response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("An invalid status is reported once, with its response") func invalidStatus() async throws {
        let delegate = RecordingDelegate()
        let downloader = downloader(delegate, on: FakeTransport { $0.play(.status(404)) })
        let finishedAtCompletion = Promise<Int>()
        downloader.downloadImage(with: fakeURL, options: [.callbackQueue(.untouch)]) { _ in
            finishedAtCompletion.fulfil(delegate.finishes.value.count)
        }
        #expect(await finishedAtCompletion.value == 1)
        #expect(delegate.log.value == ["will", "status 404", "finish with error"])
        let finish = try #require(delegate.finishes.value.first)
        #expect((finish.response as? HTTPURLResponse)?.statusCode == 404)
        #expect(finish.error?.isInvalidResponseStatusCode(404) == true)
    }

    @Test("A transport error is reported once") func transportError() async throws {
        let delegate = RecordingDelegate()
        let transport = FakeTransport { $0.complete(TransportError(.cannotFindHost, "where?")) }
        let downloader = downloader(delegate, on: transport)
        #expect(await Caller.load(with: downloader).error?.errorCode == 2003)
        #expect(delegate.log.value == ["will", "finish with error"])
        #expect(delegate.finishes.value.first?.error?.errorCode == 2003)
    }

    @Test("A delegate that returns no data fails the download for every subscriber") func nilData() async throws {
        let delegate = RecordingDelegate(change: { _ in nil })
        let downloader = downloader(delegate, on: silent)
        let processor = NamedProcessor()
        let callers = (0..<2).map { _ in Caller.load(with: downloader, [.processor(processor)]) }
        silent.transfers[0].play(.data(someBytes))
        for caller in callers { #expect(await caller.error?.errorCode == 2004) }
        #expect(processor.runs.value == 0)
        #expect(delegate.finishes.value.map(\.error?.errorCode) == [2004])
    }

    @Test("Data changed by the delegate is processed and delivered") func changedData() async throws {
        let delegate = RecordingDelegate(change: { Data($0.reversed()) })
        let downloader = downloader(delegate, on: immediate)
        #expect(await Caller.load(with: downloader).data == Data(someBytes.reversed()))
    }

    @Test("The delegate's method with a URL is called only if the one with the response is missing")
    func urlForm() async throws {
        final class ByURL: ImageDownloaderDelegate, Sendable {
            func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL) -> Data? {
                Data(url.lastPathComponent.utf8)
            }
        }
        let delegate = ByURL()
        let downloader = ImageDownloader(name: "test", transport: immediate)
        downloader.delegate = delegate
        #expect(await Caller.load(with: downloader).data == Data("picture.png".utf8))
    }

    @Test("The delegate can stop the download at the response") func cancelDisposition() async throws {
        let delegate = RecordingDelegate(disposition: .cancel)
        let downloader = downloader(delegate, on: silent)
        let callers = [Caller.load(with: downloader), Caller.load(with: downloader)]
        silent.transfers[0].play(.data(someBytes))
        for caller in callers { #expect(await caller.error?.errorCode == 2006) }
        #expect(silent.cancelCount == 1)
        #expect(delegate.log.value == ["will", "status 200", "response", "finish with error"])
    }

    @Test("Other dispositions continue the download") func otherDispositions() async throws {
        // The disposition `becomeDownload`, by its raw value, because the name is deprecated here.
        let disposition = try #require(URLSession.ResponseDisposition(rawValue: 2))
        let delegate = RecordingDelegate(disposition: disposition)
        #expect(await Caller.load(with: downloader(delegate, on: immediate)).data == someBytes)
    }

    @Test("The delegate decides which statuses are valid") func statusValidation() async throws {
        let transport = FakeTransport { $0.play(.data(someBytes).with { $0.status = 404 }) }
        let lenient = RecordingDelegate(isValid: { $0 == 404 })
        #expect(await Caller.load(with: downloader(lenient, on: transport)).data == someBytes)
        let strict = RecordingDelegate(isValid: { _ in false })
        let error = await Caller.load(with: downloader(strict, on: immediate)).error
        #expect(error?.isInvalidResponseStatusCode(200) == true)
    }

    @Test("Only the cancellation of the last subscriber is reported") func lastCancellation() async throws {
        let delegate = RecordingDelegate()
        let downloader = downloader(delegate, on: silent)
        let callers = [Caller.load(with: downloader), Caller.load(with: downloader)]
        callers[0].cancel()
        _ = await callers[0].result
        #expect(delegate.log.value == ["will"])
        callers[1].cancel()
        _ = await callers[1].result
        await delegate.finished.wait()
        #expect(delegate.log.value == ["will", "finish with error"])
        #expect(delegate.finishes.value.first?.error?.isTaskCancelled == true)
    }

    @Test("A download continues after its delegate was released") func releasedDelegate() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        var delegate: RecordingDelegate? = RecordingDelegate(isValid: { _ in false })
        downloader.delegate = delegate
        #expect(downloader.delegate === delegate)
        let caller = Caller.load(with: downloader)
        delegate = nil
        silent.transfers[0].play(.data(someBytes))
        #expect(await caller.data == someBytes)
        #expect(downloader.delegate == nil)
    }

    @Test("Metrics are available when the first completion handler runs") func metrics()
        async throws
    {
        try await withDownloader { server, downloader in
            let gate = Gate()
            server.route("/from", .redirect(to: "/to"))
            server.route("/to", .data(someBytes).with { $0.gate = gate })
            let callers = (0..<2).map { _ in Caller.load(server.url("/from"), with: downloader) }
            gate.open()
            for caller in callers {
                let metrics = try #require(try await caller.result.get().metrics)
                #expect(metrics.httpStatusCode == 200)
                #expect(metrics.redirectCount == 1)
                #expect(metrics.responseBodyBytesReceived == Int64(someBytes.count))
                let duration = try #require(metrics.retrieveImageDuration)
                #expect(duration > 0)
                #expect(metrics.totalRequestDuration >= duration)
                let speed = try #require(metrics.downloadSpeed)
                #expect(abs(speed * duration - Double(someBytes.count)) < 0.001)
            }
        }
    }

    @Test("Without a successful exchange there are no metrics") func noMetrics() {
        var exchange = TransportMetrics.Exchange(url: fakeURL)
        exchange.status = 302
        let range = exchange.start..<exchange.start
        #expect(NetworkMetrics(TransportMetrics(exchanges: [exchange], interval: range)) == nil)
        exchange.status = 204
        #expect(NetworkMetrics(TransportMetrics(exchanges: [exchange], interval: range))?.downloadSpeed == nil)
    }

    @Test("A finished transfer keeps neither downloader nor task alive", .timeLimit(.minutes(2)))
    func retention() async throws {
        // A real transport is used, because the fake one retains its events for the test.
        let server = try await TestServer.start()
        server.route("/a", .data(someBytes))
        weak var downloader: ImageDownloader?
        weak var transfer: SessionDataTask?
        do {
            let strong = ImageDownloader(name: "test")
            downloader = strong
            let caller = Caller.load(server.url("/a"), with: strong)
            _ = await caller.result
            transfer = await caller.task.sessionTask
            #expect(transfer != nil)
        }
        await server.stop()
        // The task that delivered last may still be ending, and its thread may be delayed.
        while downloader != nil || transfer != nil, !Task.isCancelled { await Task.yield() }
        #expect(downloader == nil)
        #expect(transfer == nil)
    }
}
