// Calls that have two forms, between which the compiler has to choose. That it compiles is most of the test.

import Foundation
import Kingfisher
import Testing

@Suite struct OverloadTests {
    private func running<Value>(_ body: () async throws -> Value) async rethrows -> Value { try await body() }
    private func now(_ body: () throws -> Void) rethrows { try body() }

    @Test("Awaited calls in closures choose the async form") func awaitedCallsInClosures() async throws {
        try await withCache { cache in
            try await cache.store(SampleImage.gradient(), forKey: "a")
            // One expression, several, inferred and given results: "no async operations" would be an error.
            try await running { try await cache.removeImage(forKey: "a") }
            #expect(!cache.isCached(forKey: "a"))
            try await running {
                try await cache.removeImage(forKey: "a", fromDisk: false)
                try await cache.removeImage(forKey: "a", processorIdentifier: "p")
            }
            let closure = { try await cache.removeImage(forKey: "a") }
            try await closure()
            let task = Task { try await cache.removeImage(forKey: "a") }
            try await task.value
        }
    }

    @Test("Awaited storing of bytes chooses the async form") func awaitedStoreToDisk() async throws {
        try await withCache { cache in
            try await running { try await cache.storeToDisk(Data("a".utf8), forKey: "a") }
            #expect(cache.isCached(forKey: "a"))
            try await running {
                try await cache.storeToDisk(Data("b".utf8), forKey: "b", forcedExtension: "b")
                try await cache.storeToDisk(Data("c".utf8), forKey: "c", expiration: .never)
            }
            #expect(cache.isCached(forKey: "b", forcedExtension: "b") && cache.isCached(forKey: "c"))
            let closure = { try await cache.storeToDisk(Data("d".utf8), forKey: "d") }
            try await closure()
            let task = Task { try await cache.storeToDisk(Data("e".utf8), forKey: "e") }
            try await task.value
            #expect(cache.isCached(forKey: "d") && cache.isCached(forKey: "e"))

            now { cache.storeToDisk(Data("f".utf8), forKey: "f") }
            await withCheckedContinuation { done in
                cache.storeToDisk(Data("g".utf8), forKey: "g") { _ in done.resume() }
            }
            #expect(cache.isCached(forKey: "g"))
        }
    }

    /// Also written as before version 5, when handlers had four parameters and tasks were never nil.
    @Test("Loads choose the current form unless they are written as before version 5") func currentLoadForms()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "overloads"),
                cache: try ImageCache(name: "overloads", cacheDirectoryURL: directory)
            )
            let url = directory.appendingPathComponent("nothing.png")
            now {
                manager.retrieveImage(with: url) { _ in }
                manager.retrieveImage(with: url) { result in _ = try? result.get() }
                manager.retrieveImage(with: url, options: nil) { _ in }
                manager.retrieveImage(with: url, options: nil, progressBlock: nil) { _ in }
                manager.retrieveImage(with: url, progressBlock: { _, _ in }, completionHandler: { _ in })
                manager.retrieveImage(with: url, completionHandler: nil)
                let plain = manager.retrieveImage(with: url, options: nil, progressBlock: nil, completionHandler: nil)
                #expect(type(of: plain) == DownloadTask?.self)
                let inferred = manager.retrieveImage(with: url, options: [], progressBlock: nil) { _ in }
                #expect(type(of: inferred) == DownloadTask?.self)
            }
            let deprecatedForms: any DeprecatedCalls = DeprecatedLoads()
            deprecatedForms.load(manager, url)
            // Without a handler this is the async form.
            await #expect(throws: KingfisherError.self) { try await manager.retrieveImage(with: url) }
            await #expect(throws: KingfisherError.self) {
                try await manager.retrieveImage(with: url, options: nil, progressBlock: nil)
            }
        }
    }

    @Test("Calls without await choose the form with a handler") func plainCalls() async throws {
        try await withCache { cache in
            now { cache.removeImage(forKey: "a") }
            let remove: (String) -> Void = { cache.removeImage(forKey: $0) }
            remove("a")
            await withCheckedContinuation { done in
                cache.removeImage(forKey: "a") { done.resume() }
            }
        }
    }
}

/// Calls deprecated functions without a warning, from functions that are deprecated themselves.
private protocol DeprecatedCalls {
    func load(_ manager: KingfisherManager, _ url: URL)
}

private struct DeprecatedLoads: DeprecatedCalls {
    @available(*, deprecated)
    func load(_ manager: KingfisherManager, _ url: URL) {
        let four = manager.retrieveImage(with: url, options: nil, progressBlock: nil) { _, _, _, _ in }
        #expect(type(of: four) == RetrieveImageTask.self)
        let named = manager.retrieveImage(with: url, options: nil, progressBlock: { _, _ in }) {
            image,
            error,
            cacheType,
            imageURL in
            _ = (image?.size, error?.code, cacheType.cached, imageURL)
        }
        #expect(type(of: named) == RetrieveImageTask.self)
        let handler: CompletionHandler? = nil
        let task = manager.retrieveImage(
            with: url,
            options: nil,
            progressBlock: nil,
            completionHandler: handler
        )
        #expect(type(of: task) == RetrieveImageTask.self)
        let wanted: RetrieveImageTask = manager.retrieveImage(
            with: url,
            options: nil,
            progressBlock: nil,
            completionHandler: nil
        )
        wanted.cancel()
    }
}
