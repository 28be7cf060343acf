// Faults known from Kingfisher for Apple's platforms, in concurrent and cancelled loads.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite struct ConcurrentKingfisherFaultTests {
    @Test("With `waitForCache` and cached originals, the completion handler is called once on any queue")
    func oneCompletionEach() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            for queue in [CallbackQueue.untouch, .dispatch(.global())] {
                let (calls, all) = (Counter(), Promise<Void>())
                for number in 0..<40 {
                    let url = rig.server.url("/a.png?\(number)")
                    let options: KingfisherOptionsInfo = [
                        .callbackQueue(queue), .waitForCache, .cacheOriginalImage, .forceRefresh,
                        .processor(CountingProcessor()),
                    ]
                    rig.manager.retrieveImage(with: url, options: options) { _ in
                        if calls.add() == 40 { all.fulfil(()) }
                    }
                }
                await all.value
                await rig.cache.clearDiskCache()
                #expect(calls.value == 40)
            }
        }
    }

    @Test(
        "A subscriber does not wait for the callback queue of an earlier subscriber",
        .timeLimit(.minutes(5))
    )
    func queuesOfOthers() async throws {
        try await Rig.run { rig in
            let gate = Gate()
            rig.server.route("/a.png", TestResponse.data(try SampleImage.png()).with { $0.gate = gate })
            let url = rig.server.url("/a.png")
            let queue = DispatchQueue(label: "stopped")
            queue.suspend()
            let (first, second) = (Promise<Void>(), Promise<Void>())
            rig.manager.retrieveImage(with: url, options: [.callbackQueue(.dispatch(queue)), .waitForCache]) { _ in
                first.fulfil(())
            }
            rig.manager.retrieveImage(with: url, options: [.callbackQueue(.untouch), .waitForCache]) { _ in
                second.fulfil(())
            }
            gate.open()
            await second.value
            #expect(rig.server.count("/a.png") == 1)
            queue.resume()
            await first.value
        }
    }

    @Test("A cancelled look-up on disk ends with a cancellation, not with a miss")
    func cancelledLookUp() async throws {
        try await Rig.run { rig in
            let gate = DispatchSemaphore(value: 0)
            try await rig.cache.store(SampleImage.gradient(), forKey: "a", options: KingfisherParsedOptionsInfo([]))
            rig.cache.clearMemoryCache()
            let (done, reading) = (Promise<KingfisherError?>(), Promise<Void>())
            let serializer = ObservedSerializer {
                reading.fulfil(())
                gate.wait()
            }
            let url = try #require(URL(string: "http://127.0.0.1:1/a"))
            let task = rig.manager.retrieveImage(
                with: .network(KF.ImageResource(downloadURL: url, cacheKey: "a")),
                options: [.cacheSerializer(serializer), .onlyFromCache]
            ) { result in
                if case .failure(let error) = result { done.fulfil(error) } else { done.fulfil(nil) }
            }
            await reading.value
            task?.cancel()
            gate.signal()
            #expect(await done.value?.isCancelled == true)
        }
    }

    @Test("An animation that cannot be made with other options is an error of the processor, off the main thread")
    func failedRecreation() async throws {
        try await Rig.run { rig in
            let (mark, onMain) = (DispatchSpecificKey<Bool>(), Counter())
            DispatchQueue.main.setSpecific(key: mark, value: true)
            rig.server.route("/a.gif", .data(try #require(try animation("animated.gif").kf.gifRepresentation())))
            let runs = Counter()
            let processor = ObservedProcessor {
                if DispatchQueue.getSpecific(key: mark) == true { onMain.add() }
                return runs.add() == 1
            }
            let url = rig.server.url("/a.gif")
            _ = try await rig.manager.retrieveImage(with: url, options: [.processor(processor), .waitForCache])
            let error = await failure {
                try await rig.manager.retrieveImage(with: url, options: [.processor(processor), .onlyLoadFirstFrame])
            }
            guard case .processorError = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(runs.value == 2 && onMain.value == 0)
        }
    }

    @Test("Options and configurations may be changed while other threads read them")
    func changingSettings() async throws {
        try await Rig.run { rig in
            try await rig.cache.store(SampleImage.gradient(), forKey: "a", options: KingfisherParsedOptionsInfo([]))
            let (manager, cache) = (rig.manager, rig.cache)
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<4 {
                    group.addTask { @concurrent in
                        for round in 0..<200 {
                            manager.defaultOptions = [.scaleFactor(CGFloat(worker + 1))]
                            cache.memoryStorage.config.countLimit = 10 + round
                            #expect(manager.defaultOptions.count == 1)
                            #expect(cache.retrieveImageInMemoryCache(forKey: "a") != nil)
                        }
                    }
                }
            }
            #expect(cache.memoryStorage.config.countLimit == 209)
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

/// The default serializer, which reports when it decodes.
struct ObservedSerializer: CacheSerializer {
    let onDecoding: @Sendable () -> Void

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        DefaultCacheSerializer.default.data(with: image, original: original)
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        onDecoding()
        return DefaultCacheSerializer.default.image(with: data, options: options)
    }
}

/// The default processor, which calls a closure to decide whether it succeeds.
private struct ObservedProcessor: ImageProcessor {
    let identifier = "noted"
    let mayGoOn: @Sendable () -> Bool

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        mayGoOn() ? DefaultImageProcessor.default.process(item: item, options: options) : nil
    }
}
