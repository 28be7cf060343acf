// Loaders of the user's: which URLs they get, how loads share them, and how they end.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Loads URLs of one scheme, and counts its calls.
private struct SchemeLoader: ImageLoading {
    let scheme: String
    let calls = Counter()
    var blocks: Bool?
    let work: @Sendable (_ progress: @Sendable (Int64, Int64) -> Void) async throws -> (Data, URLResponse?)

    init(
        _ scheme: String = "custom",
        blocks: Bool? = nil,
        work: @escaping @Sendable (@Sendable (Int64, Int64) -> Void) async throws -> (Data, URLResponse?)
    ) {
        (self.scheme, self.blocks, self.work) = (scheme, blocks, work)
    }

    func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { url.scheme == scheme }
    func load(
        _ url: URL,
        options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> (Data, URLResponse?) {
        calls.add()
        return try await work(progress)
    }
    func shouldBlock(_ url: URL, after error: any Error) -> Bool? { blocks }
}

private struct Broken: Error {}

@Suite(.timeLimit(.minutes(5))) struct ImageLoaderTests {
    private let url: URL

    init() throws { url = try #require(URL(string: "custom://place/a")) }

    private func error(_ rig: Rig, _ options: KingfisherOptionsInfo = []) async -> KingfisherError? {
        await failure { [url] in try await rig.manager.retrieveImage(with: url, options: options) }
    }

    @Test("What a loader can load is made into an image and cached; the downloader loads all else") func choice()
        async throws
    {
        try await Rig.run { rig in
            let image = try SampleImage.png(8, 8)
            let loader = SchemeLoader { _ in (image, nil) }
            rig.manager.loaders.add(loader)
            rig.server.route("/a", .data(image))
            let loaded = try await rig.manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(loaded.cacheType == .none && loaded.data() == image && loaded.image.pixelWidth == 8)
            #expect(try await rig.manager.retrieveImage(with: url).cacheType == .memory)
            #expect(rig.cache.isCached(forKey: url.cacheKey))
            #expect(try await rig.manager.retrieveImage(with: rig.server.url("/a")).cacheType == .none)
            #expect(loader.calls.value == 1 && rig.server.count("/a") == 1)
        }
    }

    @Test("The loader that was added last goes first, and one that was removed is not asked") func order()
        async throws
    {
        try await Rig.run { rig in
            let image = try SampleImage.png(8, 8)
            let first = SchemeLoader { _ in (image, nil) }, second = SchemeLoader { _ in (image, nil) }
            let other = SchemeLoader("other") { _ in throw Broken() }
            rig.manager.loaders.add(first)
            let registration = rig.manager.loaders.add(second)
            rig.manager.loaders.add(other)
            #expect(rig.manager.loaders.loaders.count == 3)
            _ = try await rig.manager.retrieveImage(with: url)
            #expect(first.calls.value == 0 && second.calls.value == 1)
            ImageLoaderRegistry().remove(registration)
            #expect(rig.manager.loaders.loaders.count == 3)
            rig.manager.loaders.remove(registration)
            rig.manager.loaders.remove(registration)
            #expect(rig.manager.loaders.loaders.count == 2)
            _ = try await rig.manager.retrieveImage(with: url, options: [.forceRefresh])
            #expect(first.calls.value == 1 && second.calls.value == 1 && other.calls.value == 0)
        }
    }

    @Test("Loads of one URL share a call, and the last one that is cancelled cancels its task") func sharing()
        async throws
    {
        try await Rig.run { rig in
            let begun = Gate(), cancelled = Gate()
            let loader = SchemeLoader { _ in
                await withTaskCancellationHandler {
                    begun.open()
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
                throw CancellationError()
            }
            rig.manager.loaders.add(loader)
            let options = rig.manager.parsed(nil)
            // Bytes, since loads of images look in the caches before they join.
            let loads = (0..<2).map { _ in
                Task.immediate {
                    await failure { [url] in try await rig.manager.data(of: .network(url), options) }
                }
            }
            await begun.wait()
            loads[0].cancel()
            #expect(await loads[0].value?.isCancelled == true && !cancelled.isOpen)
            loads[1].cancel()
            #expect(await loads[1].value?.isCancelled == true)
            await cancelled.wait()
            #expect(loader.calls.value == 1)
        }
    }

    @Test("Cancelling the load of an image cancels its loader's task") func cancelling() async throws {
        try await Rig.run { rig in
            let begun = Gate(), cancelled = Gate()
            rig.manager.loaders.add(
                SchemeLoader { _ in
                    await withTaskCancellationHandler {
                        begun.open()
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.open()
                    }
                    return (Data(), nil)
                }
            )
            let load = Task.immediate { await error(rig) }
            await begun.wait()
            load.cancel()
            #expect(await load.value?.isCancelled == true)
            await cancelled.wait()
        }
    }

    @Test("Progress reaches the load") func progress() async throws {
        try await Rig.run { rig in
            let image = try SampleImage.png(8, 8), reported = Promise<[Int64]>()
            rig.manager.loaders.add(
                SchemeLoader { progress in
                    progress(3, 10)
                    _ = await reported.value
                    return (image, nil)
                }
            )
            _ = try await rig.manager.retrieveImage(with: url, progressBlock: { reported.fulfil([$0, $1]) })
            #expect(await reported.value == [3, 10])
        }
    }

    @Test("Errors of loaders become the library's, and are tried again") func errors() async throws {
        try await Rig.run { rig in
            let registration = rig.manager.loaders.add(SchemeLoader { _ in throw Broken() })
            #expect(await error(rig)?.cause is Broken)
            rig.manager.loaders.remove(registration)
            let own = SchemeLoader { _ in throw KingfisherError.requestError(reason: .emptyRequest) }
            rig.manager.loaders.add(own)
            let retrying = DelayRetryStrategy(maxRetryCount: 2, retryInterval: .seconds(0))
            #expect(await error(rig, [.retryStrategy(retrying)])?.errorCode == 1001)
            #expect(own.calls.value == 1)
            let failing = SchemeLoader { _ in throw Broken() }
            rig.manager.loaders.add(failing)
            #expect(await error(rig, [.retryStrategy(retrying)])?.errorCode == 2003)
            #expect(failing.calls.value == 3)
        }
    }

    @Test("A loader decides whether its URL is blocked, or leaves that to the manager", arguments: [true, false, nil])
    func blocking(decision: Bool?) async throws {
        try await Rig.run { rig in
            // Bytes of which no image can be made are a failure for good, unless the loader says otherwise.
            let loader = SchemeLoader(blocks: decision) { _ in (Data("no image".utf8), nil) }
            rig.manager.loaders.add(loader)
            #expect(await error(rig, [.skipFailedURLs])?.errorCode == 4001)
            #expect(await error(rig, [.skipFailedURLs])?.errorCode == (decision == false ? 4001 : 1101))
            rig.manager.failedURLs?.removeAll()
            rig.manager.loaders.add(SchemeLoader(blocks: decision) { _ in throw Broken() })
            #expect(await error(rig, [.skipFailedURLs])?.errorCode == 2003)
            #expect(await error(rig, [.skipFailedURLs])?.errorCode == (decision == true ? 1101 : 2003))
        }
    }

    @Test("A response says how long its image is fresh, and prefetches go to loaders, too") func prefetching()
        async throws
    {
        try await Rig.run { rig in
            let image = try SampleImage.png(8, 8)
            let response = try #require(
                HTTPURLResponse(
                    url: url,
                    statusCode: 200,
                    httpVersion: nil,
                    headerFields: ["Cache-Control": "max-age=60"]
                )
            )
            let loader = SchemeLoader { _ in (image, response) }
            rig.manager.loaders.add(loader)
            let work = PrefetchWork(rig.prefetching, manager: rig.manager) { _ in }
            guard case .completed = await work.bytes(of: .network(url)) else {
                Issue.record("the bytes were not stored")
                return
            }
            #expect(try await rig.cache.cacheMetadata(forKey: url.cacheKey)?.cacheControl == "max-age=60")
            rig.cache.clearMemoryCache()
            guard case .skipped = await work.image(of: .network(url)) else {
                Issue.record("the bytes were not found")
                return
            }
            #expect(loader.calls.value == 1)
        }
    }
}
