// Promises in Kingfisher's documentation of earlier versions that no other suite covers.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("Promises of Kingfisher's earlier documentation") struct EarlierDocumentsTests {
    @Test("Resources become sources with their key and URL; the older name of one still compiles")
    func resources() throws {
        let url = try #require(URL(string: "https://example.com/a.png"))
        let resource = KF.ImageResource(downloadURL: url, cacheKey: "key")
        guard case .network(let wrapped) = resource.convertToSource() else {
            return #expect(Bool(false), "It is to be downloaded.")
        }
        #expect(wrapped.cacheKey == "key" && wrapped.downloadURL == url)
        #expect(URL(fileURLWithPath: "/a.png").cacheKey != URL(fileURLWithPath: "/a.png").absoluteString)
    }

    @Test("The memory storage throws nothing, and its clock can be set")
    func memory() {
        var config = MemoryStorage.Config(totalCostLimit: 0, cleanInterval: 60)
        config.cleanInterval = 30
        let storage = MemoryStorage.Backend<KFCrossPlatformImage>(config: config)
        #expect(storage.config.cleanInterval == 30)
        storage.store(value: SampleImage.gradient(2, 2), forKey: "a")
        storage.remove(forKey: "a")
        #expect(!storage.isCached(forKey: "a"))
    }

    /// Like the WebP example of Kingfisher's articles, which ignores the original data.
    private struct PlainSerializer: CacheSerializer {
        let written = Counter()
        let read = Counter()
        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
            written.add()
            return image.kf.pngRepresentation()
        }
        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            read.add()
            return DefaultCacheSerializer.default.image(with: data, options: options)
        }
    }

    @Test("Processors get the loaded data, serializers the data that is written to disk and read from it")
    func processorAndSerializer() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let provider = RawImageDataProvider(data: try SampleImage.png(), cacheKey: "raw")
            for source in [Source.network(rig.server.url("/a.png")), .provider(provider)] {
                let (processor, serializer) = (CountingProcessor(), PlainSerializer())
                let options: KingfisherOptionsInfo = [
                    .processor(processor), .cacheSerializer(serializer), .waitForCache,
                ]
                let counts = { [processor.runs.value, serializer.written.value, serializer.read.value] }
                _ = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(counts() == [1, 1, 0])
                _ = try await rig.manager.retrieveImage(with: source, options: options)
                #expect(counts() == [1, 1, 0], "A memory hit needs neither.")
                rig.cache.clearMemoryCache()
                #expect(try await rig.manager.retrieveImage(with: source, options: options).cacheType == .disk)
                #expect(counts() == [1, 1, 1])
            }
        }
    }

    @Test("A cached original that cannot be processed fails the load without a download")
    func failedOriginals() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let url = rig.server.url("/a.png")
            _ = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(CountingProcessor()), .cacheOriginalImage, .waitForCache]
            )
            let failing = CountingProcessor("failing", fails: true)
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.processor(failing)])
            }
            #expect(error?.errorCode == 4001 && failing.runs.value == 1)
            #expect(rig.server.count("/a.png") == 1)
        }
    }

    @Test("An original is stored only on disk, with its bytes unchanged")
    func originals() async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.jpeg()
            rig.server.route("/a.jpg", .data(bytes))
            let url = rig.server.url("/a.jpg")
            _ = try await rig.manager.retrieveImage(
                with: url,
                options: [.processor(CountingProcessor()), .cacheOriginalImage, .waitForCache]
            )
            #expect(!rig.cache.memoryStorage.isCached(forKey: url.cacheKey))
            #expect(try rig.cache.diskStorage.value(forKey: url.cacheKey) == bytes)
        }
    }

    @Test("One cancellation stops the look-up and the load, and the handler is called once")
    func cancellingLookUp() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: url.cacheKey), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let (calls, end) = (Counter(), Promise<KingfisherError?>())
            let task = rig.manager.retrieveImage(with: url) { result in
                calls.add()
                if case .failure(let error) = result { end.fulfil(error) } else { end.fulfil(nil) }
            }
            task?.cancel()
            #expect(await end.value?.isCancelled == true)
            mayEnd.fulfil(())
            await slow.value
            #expect(calls.value == 1 && rig.server.count("/a.png") == 0)
        }
    }

    private final class CountedProvider: ImageDataProvider {
        let cacheKey = "counted"
        let calls: Counter

        init(_ calls: Counter) { self.calls = calls }

        func data() async throws -> Data {
            calls.add()
            return try SampleImage.png()
        }
    }

    @Test("A cancelled load finishes its look-up, but does not load its source", .timeLimit(.minutes(5)))
    func unwantedLoad() async throws {
        try await Rig.run { rig in
            let calls = Counter()
            var provider: CountedProvider? = CountedProvider(calls)
            weak let watched = provider
            let (ticket, mayEnd) = (rig.cache.operations.ticket(forKey: "counted"), Promise<Void>())
            let slow = Task { await ticket.run { await mayEnd.value } }
            let wasCancelled = Promise<Bool>()
            var task = provider.flatMap { provider in
                rig.manager.retrieveImage(with: .provider(provider)) { result in
                    if case .failure(let error) = result { wasCancelled.fulfil(error.isCancelled) }
                }
            }
            provider = nil
            task?.cancel()
            task = nil
            #expect(await wasCancelled.value)
            #expect(watched != nil, "It is still being looked up.")
            mayEnd.fulfil(())
            await slow.value
            while watched != nil, !Task.isCancelled { await Task.yield() }
            #expect(watched == nil)
            #expect(calls.value == 0)
        }
    }

    @Test("A request modifier that returns nil vetoes a download")
    func veto() async throws {
        try await Rig.run { rig in
            let url = rig.server.url("/a.png")
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.requestModifier(AnyModifier { _ in nil })])
            }
            #expect(error?.errorCode == 1001 && rig.server.count("/a.png") == 0)
        }
    }

    @Test("Whether and how long an image is kept is set for each layer separately")
    func expirationPerLayer() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let (url, processor) = (rig.server.url("/a.png"), CountingProcessor("p"))
            func kept(_ options: KingfisherOptionsInfo) async throws -> [Bool] {
                await rig.cache.clearCache()
                let all = [.processor(processor), .waitForCache] + options
                _ = try await rig.manager.retrieveImage(with: url, options: all)
                let computed = url.cacheKey.computedKey(with: "p")
                return [
                    rig.cache.memoryStorage.isCached(forKey: computed),
                    rig.cache.diskStorage.isCached(forKey: computed),
                    rig.cache.diskStorage.isCached(forKey: url.cacheKey),
                ]
            }
            #expect(try await kept([]) == [true, true, false])
            #expect(try await kept([.cacheMemoryOnly]) == [true, false, false])
            #expect(try await kept([.cacheMemoryOnly, .cacheOriginalImage]) == [true, false, true])
            #expect(try await kept([.memoryCacheExpiration(.expired)]) == [false, true, false])
            #expect(try await kept([.diskCacheExpiration(.expired)]) == [true, false, false])
        }
    }
}
