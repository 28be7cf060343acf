// Sharing of work by identical loads: all of it with types of the library; a custom type keeps its stage separate.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct SharingTests {
    private static let count = 64

    /// The work that a number of identical loads took.
    private struct Work: Equatable {
        var requests = 1
        var decodings = 1
        var encodings = 1
        var stores = 1
    }

    /// Loads one URL many times at once, with the same options each.
    ///
    /// `begun` returns when all loads are where none can miss what the others share; the response comes then.
    private func work(
        _ options: KingfisherOptionsInfo,
        _ bytes: Data? = nil,
        when begun: (KingfisherManager) async -> Void = { _ in }
    ) async throws -> Work {
        var work = Work()
        try await Rig.run { rig in
            let (url, bytes) = (rig.server.url("/a.png"), try bytes ?? SampleImage.png())
            let gate = Gate()
            rig.server.route("/a.png", .data(bytes).with { $0.gate = gate })
            let encodings = Counter()
            rig.cache.core.recorder.observe { phase, _ in if phase == .encoding { encodings.add() } }
            let processor = CountingProcessor()
            let all = [.processor(processor), .waitForCache] + options
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.count {
                    group.addTask { @concurrent in
                        let result = try await rig.manager.retrieveImage(with: url, options: all)
                        #expect(result.image.pixelWidth == 64)
                    }
                }
                await begun(rig.manager)
                gate.open()
                try await group.waitForAll()
            }
            work.requests = rig.server.count("/a.png")
            work.decodings = processor.runs.value
            work.encodings = encodings.value
            work.stores = rig.cache.statistics.disk.stores
        }
        return work
    }

    /// Waits until all loads wait for the same bytes.
    private func haveJoined(_ manager: KingfisherManager) async {
        let transfers = manager.downloader.loader.transfers
        while transfers.all.first?.subscribers.count ?? 0 < Self.count { await Task.yield() }
    }

    static let serializers: [any CacheSerializer] = [
        DefaultCacheSerializer.default, FormatIndicatedCacheSerializer.png, FormatIndicatedCacheSerializer.jpeg,
        FormatIndicatedCacheSerializer.gif, FormatIndicatedCacheSerializer.webP, FormatIndicatedCacheSerializer.avif,
        FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.5), WebPCacheSerializer.default,
        PNGCacheSerializer.default, JPEGCacheSerializer.default, AVIFCacheSerializer.default,
    ]

    @Test(
        "64 identical loads with a serializer of the library make one request, decoding, encoding and store",
        arguments: serializers.indices
    )
    func librarySerializers(index: Int) async throws {
        #expect(try await work([.cacheSerializer(Self.serializers[index])]) == Work())
    }

    @Test("64 identical loads with a custom request modifier share all work but its own")
    func customModifier() async throws {
        let calls = Counter()
        let modifier = AnyModifier { request in
            calls.add()
            return request
        }
        let work = try await work([.requestModifier(modifier)], when: haveJoined)
        #expect(work == Work() && calls.value == Self.count)
    }

    @Test("64 identical loads with a custom serializer share the request and the image")
    func customSerializer() async throws {
        struct CustomSerializer: CacheSerializer {
            func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }
            func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
        }
        // One that begins after the bytes have arrived makes a request of its own.
        let work = try await work([.cacheSerializer(CustomSerializer())], when: haveJoined)
        #expect(work.requests == 1 && work.decodings == 1)
    }

    @Test("64 identical loads of a provider call it once")
    func provider() async throws {
        struct Counted: ImageDataProvider {
            let cacheKey = "counted"
            let calls: Counter
            let bytes: Data
            func data() async throws -> Data {
                calls.add()
                return bytes
            }
        }
        try await Rig.run { rig in
            let (calls, processor) = (Counter(), CountingProcessor())
            let source = Source.provider(Counted(calls: calls, bytes: try SampleImage.png()))
            let options: KingfisherOptionsInfo = [
                .processor(processor), .cacheSerializer(FormatIndicatedCacheSerializer.png),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.count {
                    group.addTask { @concurrent in
                        _ = try await rig.manager.retrieveImage(with: source, options: options)
                    }
                }
                try await group.waitForAll()
            }
            #expect(calls.value == 1 && processor.runs.value == 1)
        }
    }

    @Test("Loads that only store differently share the request and the processing, and store an entry each")
    func differentEntries() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let (url, manager, processor) = (rig.server.url("/a.png"), rig.manager, CountingProcessor())
            let serializers: [any CacheSerializer] = [
                FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.5), FormatIndicatedCacheSerializer.png,
            ]
            let started = StartCounter(awaited: 2)
            let tasks = serializers.enumerated().map { number, serializer in
                Task { @concurrent in
                    try await manager.retrieveImage(
                        with: url,
                        options: [
                            .cacheSerializer(serializer), .processor(processor), .waitForCache,
                            .forcedCacheFileExtension("\(number)"), .requestModifier(started),
                        ]
                    )
                }
            }
            await started.haveStarted.value
            gate.open()
            for task in tasks { _ = try await task.value }
            #expect(rig.server.count("/a.png") == 1 && processor.runs.value == 1)
            #expect(rig.files.count == 2)
        }
    }

    @Test("A load that begins after the bytes of an earlier one arrived makes a request of its own")
    func loadAfterArrival() async throws {
        struct CustomSerializer: CacheSerializer {
            func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }
            func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
        }
        struct Slow: ImageProcessor {
            let identifier = "slow"
            let isWorking = Promise<Void>()
            let mayEnd = DispatchSemaphore(value: 0)
            func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
                isWorking.fulfil(())
                mayEnd.wait()
                return DefaultImageProcessor.default.process(item: item, options: options)
            }
        }
        try await Rig.run { rig in
            let (url, manager, processor) = (rig.server.url("/a.png"), rig.manager, Slow())
            let options: KingfisherOptionsInfo = [.cacheSerializer(CustomSerializer()), .processor(processor)]
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let first = Task { try await manager.retrieveImage(with: url, options: options).image.pixelWidth }
            await processor.isWorking.value
            rig.server.route("/a.png", .data(try SampleImage.png(32, 32)))
            let second = Task { try await manager.retrieveImage(with: url, options: options).image.pixelWidth }
            await rig.server.waitForRequests(2, to: "/a.png")
            for _ in 1...2 { processor.mayEnd.signal() }
            #expect(try await first.value == 64)
            #expect(try await second.value == 32)
        }
    }

    @Test("A load counts one miss in memory, whether or not the cache is a subclass", arguments: [false, true])
    func oneMemoryMiss(isSubclass: Bool) async throws {
        final class CustomCache: ImageCache, @unchecked Sendable {}
        try await Rig.run { rig in
            let config = DiskStorage.Config(name: "own", sizeLimit: 0, directory: rig.directory)
            let memory = MemoryStorage.Backend<KFCrossPlatformImage>(config: .init(totalCostLimit: 1 << 20))
            let disk = try DiskStorage.Backend<Data>(config: config)
            let cache =
                isSubclass
                ? CustomCache(memoryStorage: memory, diskStorage: disk)
                : ImageCache(memoryStorage: memory, diskStorage: disk)
            let url = rig.server.route("/a.png", .data(try SampleImage.png()))
            let options: KingfisherOptionsInfo = [.targetCache(cache), .waitForCache]
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .none)
            #expect(cache.statistics.memory.misses == 1 && cache.statistics.disk.misses == 1)
            cache.clearMemoryCache()
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .disk)
            #expect(cache.statistics.memory.misses == 2 && cache.statistics.disk.hits == 1)
            #expect(try await rig.manager.retrieveImage(with: url, options: options).cacheType == .memory)
            #expect(cache.statistics.memory.hits == 1)
        }
    }

    @Test("Several concurrent reads of one entry on disk decode it once")
    func oneDecoding() async throws {
        try await Rig.run { rig in
            try await rig.cache.store(SampleImage.gradient(), forKey: "a", options: KingfisherParsedOptionsInfo([]))
            let (manager, cache) = (rig.manager, rig.cache)
            let url = try #require(URL(string: "http://127.0.0.1:1/a"))
            let source = Source.network(KF.ImageResource(downloadURL: url, cacheKey: "a"))
            for asksTheManager in [false, true] {
                let decodings = Counter()
                let serializer = ObservedSerializer { decodings.add() }
                cache.clearMemoryCache()
                let types = try await withThrowingTaskGroup(of: CacheType.self) { group in
                    for _ in 0..<8 {
                        group.addTask { @concurrent in
                            let options: KingfisherOptionsInfo = [.cacheSerializer(serializer), .onlyFromCache]
                            return asksTheManager
                                ? try await manager.retrieveImage(with: source, options: options).cacheType
                                : try await cache.retrieveImage(forKey: "a", options: options).cacheType
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(decodings.value == 1)
                #expect(types.filter { $0 == .disk }.count == 1 && types.filter { $0 == .memory }.count == 7)
            }
        }
    }
}

/// Leaves requests unchanged, and signals when the given number of downloads have begun or joined another.
struct StartCounter: ImageDownloadRequestModifier {
    let awaited: Int
    let haveStarted = Promise<Void>()
    private let count = Counter()

    init(awaited: Int) { self.awaited = awaited }

    func modified(for request: URLRequest) -> URLRequest? { request }

    var onDownloadTaskStarted: (@Sendable (DownloadTask?) -> Void)? {
        { [self] _ in if count.add() == awaited { haveStarted.fulfil(()) } }
    }
}
