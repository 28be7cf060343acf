// The progress of live photos: the files together, and whether the caller still wants to know.

import Dispatch
import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct LivePhotoProgressTests {
    /// A live photo whose files are being downloaded, at most two, as the test plays it.
    private struct Loading {
        let starts = [Promise<FakeTransfer>(), Promise<FakeTransfer>()]
        let steps = Box<[[Int64]]>([])
        let isCurrent = Box(true)
        let task: Task<LivePhotoLoadingInfoResult, any Error>

        init(_ urls: [URL], in directory: URL) throws {
            let (starts, steps, isCurrent, count) = (starts, steps, isCurrent, Counter())
            let transport = FakeTransport { starts[count.add() - 1].fulfil($0) }
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            let downloader = ImageDownloader(name: "test", transport: transport)
            let manager = KingfisherManager(downloader: downloader, cache: cache)
            task = Task {
                try await manager.retrieveLivePhoto(
                    with: LivePhotoSource(urls: urls),
                    progressBlock: { received, total in steps.change { $0.append([received, total]) } },
                    referenceTaskIdentifierChecker: { isCurrent.value }
                )
            }
        }
    }

    private func begin(_ transfer: FakeTransfer, length: Int) throws {
        let url = try #require(transfer.originalRequest.url)
        let fields = ["Content-Length": "\(length)"]
        let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        transfer.receive(try #require(head))
    }

    /// Waits until everything queued before has been delivered.
    private func settle() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test("Progress is that of all files, once their lengths are known, and only while the caller wants it")
    func sum() async throws {
        try await withTemporaryDirectory { directory in
            let urls = try ["https://example.com/a.heic", "https://example.com/b.mov"].map {
                try #require(URL(string: $0))
            }
            let loading = try Loading(urls, in: directory)
            let transfers = [await loading.starts[0].value, await loading.starts[1].value]
            let picture = try #require(transfers.first { $0.originalRequest.url == urls[0] })
            let movie = try #require(transfers.first { $0.originalRequest.url == urls[1] })

            try begin(picture, length: 4)
            picture.send(Data([1, 2]))
            await settle()
            #expect(loading.steps.value.isEmpty)
            try begin(movie, length: 6)
            movie.send(Data(count: 6))
            await settle()
            #expect(loading.steps.value == [[8, 10]])
            loading.isCurrent.value = false
            picture.send(Data([3, 4]))
            await settle()
            #expect(loading.steps.value == [[8, 10]])
            for transfer in transfers { transfer.complete() }
            #expect(try await loading.task.value.data() == [Data([1, 2, 3, 4]), Data(count: 6)])
        }
    }

    @Test("A file that is read does not hold back the progress of one that is downloaded")
    func localFile() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("here.mov")
            try Data("the movie".utf8).write(to: file)
            let url = try #require(URL(string: "https://example.com/a.heic"))
            let loading = try Loading([url, file], in: directory)
            let picture = await loading.starts[0].value
            try begin(picture, length: 4)
            picture.send(Data([1, 2, 3, 4]))
            await settle()
            #expect(loading.steps.value == [[4, 4]])
            picture.complete()
            #expect(try await loading.task.value.data() == [Data([1, 2, 3, 4]), Data("the movie".utf8)])
        }
    }
}
