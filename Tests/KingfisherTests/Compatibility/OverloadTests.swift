// Calls that have two forms, written so that the compiler has to choose. That this file compiles is most of the test.

import Foundation
import Kingfisher
import Testing

@Suite struct OverloadTests {
    private func running<Value>(_ body: () async throws -> Value) async rethrows -> Value { try await body() }
    private func now(_ body: () throws -> Void) rethrows { try body() }

    @Test func awaitedCallsInClosuresAreTheAsyncOnes() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "overloads", cacheDirectoryURL: directory)
            try await cache.store(Picture.gradient(), forKey: "a")
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

    @Test func plainCallsAreTheOnesWithHandlers() async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "overloads", cacheDirectoryURL: directory)
            now { cache.removeImage(forKey: "a") }
            let remove: (String) -> Void = { cache.removeImage(forKey: $0) }
            remove("a")
            await withCheckedContinuation { done in
                cache.removeImage(forKey: "a") { done.resume() }
            }
        }
    }
}
