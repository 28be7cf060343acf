// The layers of a cache that a load asks and fills, for the image and for its original.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct CacheLayersTests {
    private let processor = CountingProcessor("one")

    private func provider(_ key: String = "a") throws -> Source {
        .provider(RawImageDataProvider(data: try SampleImage.png(), cacheKey: key))
    }

    /// Where an image and its original are after a load.
    private func stored(_ options: KingfisherOptionsInfo) async throws -> (CacheLayers, original: CacheLayers) {
        try await Rig.result { rig in
            let options = options + [.processor(processor), .waitForCache]
            _ = try await rig.manager.retrieveImage(with: try provider(), options: options)
            return (rig.layers("a", "one"), rig.layers("a", ""))
        }
    }

    private static let combinations: [CacheLayers] = [[], .memory, .disk, .all]

    @Test("An image is stored in the layers that the option names", arguments: combinations)
    func store(layers: CacheLayers) async throws {
        let result = try await stored([.storeCacheLayers(layers)])
        #expect(result == (layers, []))
        let memoryOnly = try await stored([.storeCacheLayers(layers), .cacheMemoryOnly])
        #expect(memoryOnly.0 == layers.intersection(.memory))
    }

    @Test("An original is stored in the layers that the option names", arguments: combinations)
    func storeOriginal(layers: CacheLayers) async throws {
        #expect(try await stored([.originalStoreCacheLayers(layers)]) == (.all, layers))
        #expect(try await stored([.originalStoreCacheLayers(layers), .cacheOriginalImage]) == (.all, layers))
        #expect(try await stored([.cacheOriginalImage]) == (.all, .disk))
    }

    @Test("The image and the original go to different caches and layers in one load") func twoCaches() async throws {
        try await Rig.run { rig in
            let other = try ImageCache(name: "other", cacheDirectoryURL: rig.directory)
            _ = try await rig.manager.retrieveImage(
                with: try provider(),
                options: [
                    .processor(processor), .waitForCache, .originalCache(other), .storeCacheLayers(.memory),
                    .originalStoreCacheLayers(.disk),
                ]
            )
            #expect(rig.layers("a", "one") == .memory && rig.layers("a", "") == [])
            #expect(other.imageCachedType(forKey: "a") == .disk)
        }
    }

    @Test("Only the layers that the option names are asked") func query() async throws {
        try await Rig.run { rig in
            let source = try provider()
            func type(_ layers: CacheLayers) async throws -> CacheType {
                // Nothing is stored, so that the next look-up finds what this one did.
                let options: KingfisherOptionsInfo = [.queryCacheLayers(layers), .storeCacheLayers([])]
                return try await rig.manager.retrieveImage(with: source, options: options).cacheType
            }
            _ = try await rig.manager.retrieveImage(with: source, options: [.waitForCache])
            #expect(try await type(.all) == .memory)
            #expect(try await type(.memory) == .memory)
            #expect(try await type(.disk) == .disk)
            #expect(try await type([]) == .none)
            rig.cache.clearMemoryCache()
            #expect(try await type(.memory) == .none)
            #expect(try await type(.all) == .disk)
            #expect(!rig.cache.memoryStorage.isCached(forKey: "a"))
        }
    }

    @Test("What is in a layer that is not asked is missing for a load from caches only")
    func onlyFromCache() async throws {
        try await Rig.run { rig in
            _ = try await rig.manager.retrieveImage(with: try provider(), options: [.waitForCache])
            rig.cache.clearMemoryCache()
            let error = await failure {
                let options: KingfisherOptionsInfo = [.onlyFromCache, .queryCacheLayers(.memory)]
                return try await rig.manager.retrieveImage(with: try provider(), options: options)
            }
            #expect(error?.errorCode == 3006)
        }
    }

    @Test("An original is looked up in the layers that the option names", arguments: [true, false])
    func queryOriginal(isAsked: Bool) async throws {
        try await Rig.run { rig in
            let loads = Counter()
            let data = try SampleImage.png()
            let source = Source.provider(CountingProvider(cacheKey: "a", data: data, loads: loads))
            _ = try await rig.manager.retrieveImage(with: source, options: [.waitForCache])
            rig.cache.clearMemoryCache()
            let layers: CacheLayers = isAsked ? .disk : .memory
            let options: KingfisherOptionsInfo = [.processor(processor), .originalQueryCacheLayers(layers)]
            _ = try await rig.manager.retrieveImage(with: source, options: options)
            #expect(loads.value == (isAsked ? 1 : 2))
        }
    }

    @Test("An image that is stored on disk alone takes an older one out of memory") func diskAlone() async throws {
        try await Rig.run { rig in
            let (old, new) = (SampleImage.gradient(8, 8), SampleImage.gradient(16, 16))
            try await rig.cache.store(old, forKey: "a")
            var options = KingfisherParsedOptionsInfo()
            options.storeCacheLayers = .disk
            try await rig.cache.store(new, forKey: "a", options: options)
            #expect(try await rig.cache.retrieveImage(forKey: "a").image?.pixelWidth == 16)
        }
    }

    /// A provider that counts how often it is asked.
    private struct CountingProvider: ImageDataProvider {
        let cacheKey: String
        let data: Data
        let loads: Counter

        func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
            loads.add()
            handler(.success(data))
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

extension Rig {
    /// What a body returns that is given a rig.
    fileprivate static func result<Value>(_ body: (Rig) async throws -> Value) async throws -> Value {
        var value: Value?
        try await run { value = try await body($0) }
        return try #require(value)
    }

    /// The layers in which an image is.
    fileprivate func layers(_ key: String, _ identifier: String) -> CacheLayers {
        let computedKey = key.computedKey(with: identifier)
        var layers: CacheLayers = cache.memoryStorage.isCached(forKey: computedKey) ? .memory : []
        if cache.diskStorage.isCached(forKey: computedKey) { layers.insert(.disk) }
        return layers
    }
}
