// What programs and servers should not do: each ends in one outcome, and the manager goes on.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// The outcome of one load, and how often its handler was called.
private final class Ending: Sendable {
    private let outcome = Promise<Outcome>()
    private let calls = Counter()

    func note(_ result: Outcome) {
        calls.add()
        outcome.fulfil(result)
    }

    var callCount: Int { calls.value }
    var result: Outcome { get async { await outcome.value } }
    /// The error's code, 0 for an image.
    var code: Int { get async { await outcome.value.code } }
}

extension Rig {
    /// Starts a load, whose handler is called on no particular thread.
    @discardableResult
    fileprivate func load(_ source: Source, _ options: KingfisherOptionsInfo = []) -> (
        ending: Ending, task: DownloadTask?
    ) {
        let ending = Ending()
        let task = manager.retrieveImage(with: source, options: options) { ending.note($0) }
        return (ending, task)
    }
}

/// A provider whose form with a handler is a closure.
private struct HandlerProvider: ImageDataProvider {
    typealias Handler = @Sendable (Result<Data, any Error>) -> Void
    let cacheKey: String
    let answer: @Sendable (@escaping Handler) -> Void
    func data(handler: @escaping Handler) { answer(handler) }
}

private struct ProviderFailure: Error {}

// MARK: Sources

@Suite(.timeLimit(.minutes(5))) struct BadSourceTests {
    @Test(
        "A URL without a scheme or host, or with another scheme than HTTP's, is an error that names it",
        arguments: [
            "a.png", "/a/b.png", "//example.com/a.png", "?a=b", "#a", "http:", "http://", "http:///a.png",
            "https:a.png",
            "http://:80/a.png", "ftp://example.com/a.png", "mailto:me@example.com", "about:blank",
            "javascript:alert(1)",
            "HTTPX://example.com", "blob:http://example.com/1", "urn:isbn:0",
        ]
    )
    func impossibleURLs(text: String) async throws {
        let url = try #require(URL(string: text))
        try await Rig.run { rig in
            let (ending, _) = rig.load(.network(url))
            let error = await ending.result.error
            let code = try #require(error?.urlError?.code)
            #expect([.unsupportedURL, .badURL].contains(code) && error?.isPermanent == true)
            #expect(error?.description.contains(text) == true, "\(String(describing: error))")
            // Views and the async form say the same.
            #expect(await failure { try await rig.manager.retrieveImage(with: url) }?.errorCode == 2003)
            #expect(await Self.codeInView(url, rig.viewOptions) == 2003)
            #expect(ending.callCount == 1 && rig.server.requests.isEmpty && rig.files.isEmpty)
        }
    }

    @MainActor private static func codeInView(_ url: URL, _ options: KingfisherOptionsInfo) async -> Int {
        let view = KFCrossPlatformImageView()
        return await withCheckedContinuation { done in
            view.kf.setImage(with: url, options: options) { done.resume(returning: $0.code) }
        }
    }

    @Test("A provider without bytes, or with bytes that are no image, fails in the processor")
    func uselessBytes() async throws {
        try await Rig.run { rig in
            for bytes in [Data(), Data("no image".utf8), Data(count: 100_000)] {
                let (ending, _) = rig.load(.provider(RawImageDataProvider(data: bytes, cacheKey: "raw")))
                #expect(await ending.code == 4001 && ending.callCount == 1)
            }
            let (ending, _) = rig.load(.provider(Base64ImageDataProvider(base64String: "", cacheKey: "empty")))
            #expect(await ending.code == 4001)
            #expect(rig.files.isEmpty)
        }
    }

    @Test("An empty cache key is a key like others") func emptyKey() async throws {
        try await Rig.run { rig in
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(5, 5), cacheKey: ""))
            for type in [CacheType.none, .memory] {
                let result = try await rig.manager.retrieveImage(with: source, options: [.waitForCache])
                #expect(result.cacheType == type && result.image.pixelWidth == 5)
            }
            rig.cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: source).cacheType == .disk)
        }
    }

    // MARK: Providers that misbehave

    @Test("A provider that never calls its handler is cancelled, and loads of its key that come later are served")
    func silentProvider() async throws {
        try await Rig.run { rig in
            let (asked, bytes) = (Gate(), try SampleImage.png())
            let silent = HandlerProvider(cacheKey: "silent") { _ in asked.open() }
            let (ending, task) = rig.load(.provider(silent))
            await asked.wait()
            task?.cancel()
            #expect(await ending.code == 1006)
            let next = RawImageDataProvider(data: bytes, cacheKey: "silent")
            #expect(try await rig.manager.retrieveImage(with: .provider(next)).cacheType == .none)
            #expect(ending.callCount == 1 && !rig.manager.isRunning)
        }
    }

    @Test("Of several answers of a provider the first counts", arguments: [true, false])
    func repeatedAnswers(isGoodFirst: Bool) async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.png(9, 9)
            let provider = HandlerProvider(cacheKey: "eager") { handler in
                for isGood in [isGoodFirst, !isGoodFirst] + (0..<50).map({ $0 % 2 == 0 }) {
                    handler(isGood ? .success(bytes) : .failure(ProviderFailure()))
                }
                DispatchQueue.concurrentPerform(iterations: 4) { _ in handler(.failure(ProviderFailure())) }
            }
            let (ending, _) = rig.load(.provider(provider))
            #expect(await ending.code == (isGoodFirst ? 0 : 5003))
            #expect(await rig.load(.provider(provider)).ending.code == (isGoodFirst ? 0 : 5003))
            #expect(ending.callCount == 1 && rig.cache.isCached(forKey: "eager") == isGoodFirst)
        }
    }

    @Test("What a provider gives or throws after it was cancelled changes nothing", arguments: [true, false])
    func lateAnswer(throwsError: Bool) async throws {
        struct Late: ImageDataProvider {
            let cacheKey = "late", asked = Gate(), go = Gate(), gone = Gate()
            let bytes: Data?
            func data() async throws -> Data {
                defer { gone.open() }
                asked.open()
                await go.wait()
                while !Task.isCancelled { await Task.yield() }
                guard let bytes else { throw ProviderFailure() }
                return bytes
            }
        }
        try await Rig.run { rig in
            let late = Late(bytes: throwsError ? nil : try SampleImage.png())
            let other = RawImageDataProvider(data: try SampleImage.png(), cacheKey: "other")
            let (ending, task) = rig.load(.provider(late), [.alternativeSources([.provider(other)])])
            await late.asked.wait()
            task?.cancel()
            #expect(await ending.code == 1006)
            late.go.open()
            await late.gone.wait()
            task?.cancel()
            // A load of the same key comes after what is left of the first one.
            let next = RawImageDataProvider(data: try SampleImage.png(7, 7), cacheKey: "late")
            #expect(try await rig.manager.retrieveImage(with: .provider(next)).image.pixelWidth == 7)
            #expect(ending.callCount == 1 && !rig.cache.isCached(forKey: "other"))
        }
    }

    @Test("A provider may load another image through the same manager") func nestedProvider() async throws {
        struct Framed: ImageDataProvider {
            let cacheKey = "framed"
            let inner: Source
            let manager: KingfisherManager
            func data() async throws -> Data {
                guard let data = try await manager.retrieveImage(with: inner).image.pngData() else {
                    throw ProviderFailure()
                }
                return data
            }
        }
        try await Rig.run { rig in
            let good = Source.provider(RawImageDataProvider(data: try SampleImage.png(6, 6), cacheKey: "inner"))
            let bad = Source.provider(RawImageDataProvider(data: Data(), cacheKey: "bad"))
            for (inner, code) in [(bad, 5003), (good, 0)] {
                let (ending, _) = rig.load(.provider(Framed(inner: inner, manager: rig.manager)))
                #expect(await ending.code == code && ending.callCount == 1)
            }
            #expect(rig.cache.isCached(forKey: "inner") && rig.cache.isCached(forKey: "framed"))
        }
    }
}

// MARK: Options

@Suite(.timeLimit(.minutes(5))) struct BadOptionTests {
    /// Turns nothing into bytes, or nothing into images.
    private struct RefusingSerializer: CacheSerializer {
        let writes: Bool
        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { writes ? original : nil }
        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
    }

    @Test("A serializer that makes no bytes does not fail a load, which reports it and is in memory")
    func noBytes() async throws {
        try await Rig.run { rig in
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(), cacheKey: "a"))
            let options: KingfisherOptionsInfo = [
                .cacheSerializer(RefusingSerializer(writes: false)), .waitForCache, .processor(CountingProcessor("p")),
                .cacheOriginalImage,
            ]
            let (ending, _) = rig.load(source, options)
            let stored = try #require(try await ending.result.get().cacheStoreResult)
            let refusal = #expect(throws: KingfisherError.self) { try stored.diskCacheResult.get() }
            #expect(refusal?.errorCode == 3008)
            #expect(rig.cache.imageCachedType(forKey: "a", processorIdentifier: "p") == .memory)
            #expect(rig.cache.imageCachedType(forKey: "a") == .disk && ending.callCount == 1)
        }
    }

    @Test("An entry of which the serializer makes no image is a miss, and is removed") func noImage() async throws {
        try await Rig.run { rig in
            let calls = Counter(), bytes = try SampleImage.png()
            let source = Source.provider(
                HandlerProvider(cacheKey: "a") { handler in
                    calls.add()
                    handler(.success(bytes))
                }
            )
            let options: KingfisherOptionsInfo = [.cacheSerializer(RefusingSerializer(writes: true)), .waitForCache]
            for round in 1...2 {
                #expect(try await rig.load(source, options).ending.result.get().cacheType == .none)
                #expect(calls.value == round && rig.files.count == 1)
                rig.cache.clearMemoryCache()
            }
            #expect(await rig.load(source, options + [.onlyFromCache]).ending.code == 3006)
            #expect(calls.value == 2 && rig.files.isEmpty)
        }
    }

    @Test("A processor that makes nothing fails the load, of bytes and of a cached image") func noProcessedImage()
        async throws
    {
        try await Rig.run { rig in
            let source = Source.provider(RawImageDataProvider(data: try SampleImage.png(), cacheKey: "a"))
            let failing: KingfisherOptionsInfo = [.processor(CountingProcessor("nothing", fails: true)), .waitForCache]
            let (ending, _) = rig.load(source, failing + [.cacheOriginalImage])
            #expect(await ending.code == 4001 && ending.callCount == 1 && rig.files.isEmpty)
            try await rig.cache.store(SampleImage.gradient(), forKey: "a")
            #expect(await rig.load(source, failing).ending.code == 4001)
            #expect(await rig.load(source, failing + [.onlyFromCache]).ending.code == 4001)
            #expect(rig.files.count == 1)
        }
    }

    @Test("`forceRefresh` looks nowhere and `onlyFromCache` loads nothing: together they find no image")
    func contradiction() async throws {
        try await Rig.run { rig in
            let url = try await rig.cached("/a", inMemory: true)
            let both: KingfisherOptionsInfo = [.forceRefresh, .onlyFromCache]
            for more: KingfisherOptionsInfo in [
                [], [.loadDiskFileSynchronously], [.processor(CountingProcessor())], [.fromMemoryCacheOrRefresh],
                [.refreshCached], [.respectCacheControl], [.cacheMemoryOnly, .waitForCache, .cacheOriginalImage],
            ] {
                let (ending, _) = rig.load(.network(url), both + more)
                #expect(await ending.code == 3006 && ending.callCount == 1, "\(more)")
            }
            let other = try rig.route("/b")
            let (ending, _) = rig.load(.network(url), both + [.alternativeSources([.network(other)])])
            #expect(await ending.code == 5004)
            #expect(rig.server.requests.count == 1 && rig.isInMemory(url))
        }
    }

    @Test("Alternatives that repeat the source are tried as often as they are given") func repeatedSource() async throws
    {
        try await Rig.run { rig in
            let source = Source.network(rig.server.url("/missing"))
            let (ending, _) = rig.load(source, [.alternativeSources([source, source])])
            #expect(await ending.code == 5004 && rig.server.count("/missing") == 3 && ending.callCount == 1)
            let (blocked, _) = rig.load(source, [.alternativeSources([source, source]), .skipFailedURLs])
            #expect(await blocked.code == 5004 && rig.server.count("/missing") == 4)
        }
    }
}
