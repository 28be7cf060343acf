// Progress of downloads: which counts are reported, on which queue, and when none are.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ProgressTests {
    private let silent = FakeTransport { _ in }

    /// Collects progress, which comes on the main queue.
    private final class Progress: Sendable {
        let steps = Box<[(received: Int64, total: Int64, isMain: Bool)]>([])
        var block: DownloadProgressBlock {
            { received, total in self.steps.change { $0.append((received, total, CallbackQueue.isMain)) } }
        }
        /// Waits until everything queued before has been delivered.
        func settle() async {
            await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        }
    }

    private func head(_ fields: [String: String]) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: fakeURL, statusCode: 200, httpVersion: nil, headerFields: fields))
    }

    @Test("Progress grows to the total on the main queue") func progressToTotal() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let progress = Progress()
        let caller = Caller.load(with: downloader, progress: progress.block)
        let transfer = silent.transfers[0]
        transfer.receive(try head(["Content-Length": "6"]))
        for piece in [Data([1]), Data([2, 3]), Data([4, 5, 6])] { transfer.send(piece) }
        await progress.settle()
        // What the screen cannot show is left out, but never the end.
        let received = progress.steps.value.map(\.received)
        #expect(received.last == 6 && received == received.sorted() && Set(received).isSubset(of: [1, 3, 6]))
        #expect(progress.steps.value.allSatisfy { $0.total == 6 && $0.isMain })
        transfer.complete()
        #expect(await caller.data?.count == 6)
    }

    @Test(
        "Without a known length no progress is reported",
        arguments: [[:], ["Content-Length": "6", "Content-Encoding": "gzip"]]
    )
    func unknownLength(fields: [String: String]) async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let progress = Progress()
        let caller = Caller.load(with: downloader, progress: progress.block)
        silent.transfers[0].receive(try head(fields))
        silent.transfers[0].send(Data([1, 2, 3]))
        silent.transfers[0].complete()
        _ = await caller.result
        await progress.settle()
        #expect(progress.steps.value.isEmpty)
    }

    @Test("A subscriber that joins late gets cumulative counts") func lateCaller() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let early = Progress(), late = Progress()
        let first = Caller.load(with: downloader, progress: early.block)
        let transfer = silent.transfers[0]
        transfer.receive(try head(["Content-Length": "6"]))
        transfer.send(Data([1, 2]))
        let second = Caller.load(with: downloader, progress: late.block)
        transfer.send(Data([3, 4]))
        await late.settle()
        #expect(Set(early.steps.value.map(\.received)).isSubset(of: [2, 4]))
        #expect(late.steps.value.map(\.received) == [4])
        first.cancel()
        second.cancel()
    }

    @Test("No progress is reported after a call has ended") func noProgressAfterEnd() async throws {
        let downloader = ImageDownloader(name: "test", transport: silent)
        let progress = Progress()
        let caller = Caller.load(with: downloader, progress: progress.block)
        let transfer = silent.transfers[0]
        transfer.receive(try head(["Content-Length": "6"]))
        await MainActor.run {
            // The main queue is busy with this test: progress that is queued here can only be delivered later.
            transfer.send(Data([1, 2]))
            caller.cancel()
            transfer.send(Data([3]))
        }
        #expect(await caller.error?.isTaskCancelled == true)
        await progress.settle()
        #expect(progress.steps.value.isEmpty)
    }
}
