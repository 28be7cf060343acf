// The end of a load with a handler: inside the call for a hit, otherwise after all its other events; and cancelled
// loads of images on disk.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite("When loads end") struct CompletionOrderTests {
    /// A load on the main thread, and the order of its events.
    @MainActor
    private final class Call {
        private var hasReturned = false
        private(set) var events: [String] = []
        private(set) var endedInCall = false
        private(set) var hasHandle = false
        let ended = Promise<Result<RetrieveImageResult, KingfisherError>>()

        init(_ manager: KingfisherManager, _ source: Source, _ options: KingfisherOptionsInfo = []) {
            let handle = manager.retrieveImage(
                with: source,
                options: options + [.callbackQueue(.mainCurrentOrAsync)],
                progressBlock: { [self] _, _ in events.append("progress") }
            ) { [self] result in
                MainActor.assumeIsolated {
                    events.append("end")
                    endedInCall = !hasReturned
                }
                ended.fulfil(result)
            }
            hasHandle = handle != nil
            hasReturned = true
        }
    }

    @Test("A load without a cache hit ends after the call returned, successful or not, and has a handle")
    @MainActor
    func endsLater() async throws {
        try await Rig.run { rig in
            let (manager, bytes) = (rig.manager, try SampleImage.png())
            manager.allowsFileURLs = false
            let file = Source.network(URL(fileURLWithPath: "/a.png"))
            for number in 0..<200 {
                let provider = RawImageDataProvider(data: bytes, cacheKey: "raw\(number)")
                let calls = [
                    Call(manager, .provider(provider)), Call(manager, file),
                    Call(manager, .network(fakeURL), [.onlyFromCache]),
                ]
                for call in calls {
                    _ = await call.ended.value
                    #expect(!call.endedInCall && call.hasHandle)
                }
            }
        }
    }

    @Test("The progress of a download is reported before its end")
    @MainActor
    func progressFirst() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            for number in 0..<50 {
                let url = rig.server.url("/a.png?\(number)")
                let call = Call(rig.manager, .network(url))
                _ = await call.ended.value
                #expect(call.events.suffix(2) == ["progress", "end"] && call.events.filter { $0 == "end" }.count == 1)
            }
        }
    }

    @Test("Hits in memory, and on disk if they are read synchronously, end inside the call")
    @MainActor
    func endsAtOnce() async throws {
        try await Rig.run { rig in
            let url = try #require(URL(string: "http://127.0.0.1:1/a"))
            try await rig.cache.store(SampleImage.gradient(), forKey: url.absoluteString)
            for type in [CacheType.memory, .disk] {
                if type == .disk { rig.cache.clearMemoryCache() }
                let call = Call(rig.manager, .network(url), [.loadDiskFileSynchronously])
                #expect(try await call.ended.value.get().cacheType == type)
                #expect(call.endedInCall && !call.hasHandle)
            }
        }
    }

    @Test("An image on disk is not promoted to memory once its load is cancelled", arguments: [false, true])
    func cancelledDiskHit(isDecoding: Bool) async throws {
        try await Rig.run { rig in
            let cache = rig.cache
            for number in 0..<40 {
                let (key, url) = ("\(number)", try #require(URL(string: "http://127.0.0.1:1/\(number)")))
                try await cache.store(SampleImage.gradient(), forKey: key)
                cache.clearMemoryCache()
                let (begun, mayGoOn, ended) = (Gate(), DispatchSemaphore(value: 0), Gate())
                let serializer = ObservedSerializer {
                    begun.open()
                    mayGoOn.wait()
                }
                // In the other case the look-up is held back and waits in its queue.
                let turn = isDecoding ? nil : cache.core.operations.ticket(forKey: key)
                let task = rig.manager.retrieveImage(
                    with: .network(KF.ImageResource(downloadURL: url, cacheKey: key)),
                    options: [.cacheSerializer(serializer), .onlyFromCache, .callbackQueue(.untouch)]
                ) { result in
                    if case .failure(let error) = result, error.isCancelled { ended.open() }
                }
                if isDecoding { await begun.wait() }
                task?.cancel()
                mayGoOn.signal()
                await turn?.run {}
                await ended.wait()
                await cache.core.operations.ticket(forKey: key).run {}
                #expect(cache.imageCachedType(forKey: key) == .disk)
            }
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
