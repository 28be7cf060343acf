// Helpers for all suites: counters, directories, images, a manager with a server.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// A counter that can be used from any thread.
final class Counter: Sendable {
    private let state = Locked(0)
    var value: Int { state.withLock { $0 } }
    @discardableResult
    func add(_ amount: Int = 1) -> Int {
        state.withLock {
            $0 += amount
            return $0
        }
    }
}

/// State that the closures of a test can share.
final class Box<Value: Sendable>: Sendable {
    private let state: Locked<Value>
    init(_ value: Value) { state = Locked(value) }
    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
    func change(_ body: @Sendable (inout Value) -> Void) { state.withLock { body(&$0) } }
}

/// Runs a test in a directory of its own.
func withTemporaryDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    _ = memoryIsNotWatched
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("kf-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try await body(directory)
}

/// Runs a test with a cache in a directory of its own.
func withCache(_ body: (ImageCache) async throws -> Void) async throws {
    try await withTemporaryDirectory { directory in
        try await body(try ImageCache(name: "test", cacheDirectoryURL: directory))
    }
}

/// The names of the files in the directory of a cache.
func files(_ cache: ImageCache) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: cache.diskStorage.directoryURL.path)) ?? []
}

/// Configures caches so that what a test keeps in memory does not depend on the machine's free memory.
private let memoryIsNotWatched: Void = ImageCache.watchesMemoryPressure = false

/// Generated images.
enum SampleImage {
    /// A gradient: smooth, asymmetric, with or without transparency.
    static func gradient(_ width: Int = 64, _ height: Int = 64, alpha: Bool = false, tint: UInt8 = 128) -> Image {
        let bitmap = Bitmap(width: width, height: height, hasAlpha: alpha) { buffer, bytesPerRow in
            for y in 0..<height {
                for x in 0..<width {
                    let a = alpha ? UInt8(255 * x / max(1, width - 1)) : 255
                    let offset = y * bytesPerRow + x * 4
                    let premultiplied = { (value: UInt8) in UInt8(Int(value) * Int(a) / 255) }
                    buffer[offset] = premultiplied(UInt8(255 * x / max(1, width)))
                    buffer[offset + 1] = premultiplied(UInt8(255 * y / max(1, height)))
                    buffer[offset + 2] = premultiplied(tint)
                    buffer[offset + 3] = a
                }
            }
        }
        return Image(cgImage: bitmap)
    }

    static func png(_ width: Int = 64, _ height: Int = 64, alpha: Bool = false, tint: UInt8 = 128) throws -> Data {
        try #require(gradient(width, height, alpha: alpha, tint: tint).pngData())
    }

    static func jpeg(_ width: Int = 64, _ height: Int = 64) throws -> Data {
        try #require(gradient(width, height).jpegData(compressionQuality: 0.9))
    }
}

/// A processor that counts its runs and otherwise decodes.
struct CountingProcessor: ImageProcessor {
    let identifier: String
    let runs = Counter()
    let fails: Bool
    init(_ identifier: String = "counting", fails: Bool = false) {
        self.identifier = identifier
        self.fails = fails
    }
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        runs.add()
        return fails ? nil : DefaultImageProcessor.default.process(item: item, options: options)
    }
}

/// A manager with a cache in a directory of its own and a server to load from.
struct Rig {
    let manager: KingfisherManager
    let server: TestServer
    let directory: URL
    var cache: ImageCache { manager.cache }

    static func run(_ body: (Rig) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let cache = try ImageCache(name: "test", cacheDirectoryURL: directory)
            try await withDownloader { server, downloader in
                let manager = KingfisherManager(downloader: downloader, cache: cache)
                manager.defaultOptions = [.callbackQueue(.untouch)]
                try await body(Rig(manager: manager, server: server, directory: directory))
            }
        }
    }

    /// Files in the cache's directory.
    var files: [String] { KingfisherTests.files(cache) }
}

/// The error that `body` throws; nil when it throws none of the library's.
func failure<Value>(_ body: () async throws -> Value) async -> KingfisherError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? KingfisherError
    }
}
