// Helpers for tests of the disk storage: a storage in a directory of its own, a clock, a scripted file manager.

import Foundation
import KFSupport
import Testing

@testable import Kingfisher

/// A storage in a directory of its own, with a clock that stands still until it is moved.
struct DiskRig {
    let storage: DiskStorage.Backend<Data>
    let config: DiskStorage.Config
    /// The parent of the storage's directory.
    let root: URL
    let now: Box<Date>

    /// Runs `body`; with `scanned`, once the storage has listed its directory.
    static func run(
        scanned: Bool = true,
        _ change: (inout DiskStorage.Config) throws -> Void = { _ in },
        manager: FileManager = .default,
        _ body: (DiskRig) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { root in
            var config = DiskStorage.Config(name: "test", sizeLimit: 0, fileManager: manager, directory: root)
            try change(&config)
            let now = Box(Date(timeIntervalSince1970: 1_700_000_000))
            let storage = DiskStorage.Backend<Data>(noThrowConfig: config, creatingDirectory: true) { now.value }
            if scanned { await storage.waitUntilIdle() }
            try await body(DiskRig(storage: storage, config: config, root: root, now: now))
        }
    }

    /// Another storage on the same directory, as another process would have, once it has listed the directory.
    func another<T: DataTransformable & Sendable>(_: T.Type = Data.self) async -> DiskStorage.Backend<T> {
        let storage = DiskStorage.Backend<T>(noThrowConfig: config, creatingDirectory: true) { [now] in now.value }
        await storage.waitUntilIdle()
        return storage
    }

    func advance(_ seconds: TimeInterval) { now.change { $0 += seconds } }

    /// The storage's directory.
    var folder: URL { storage.directoryURL }

    /// Everything in the storage's directory, hidden files included.
    var files: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    /// The times at which the file of a key was last accessed and changed.
    func times(ofKey key: String) throws -> (access: Date, modification: Date) {
        var status = stat()
        try #require(lstat(storage.cacheFileURL(forKey: key).path, &status) == 0)
        func date(_ time: timespec) -> Date {
            Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
        }
        return (date(status.st_atim), date(status.st_mtim))
    }
}

/// A file manager that records its calls and follows a script.
// SAFETY: all its state is in a lock.
final class ScriptedFileManager: FileManager, @unchecked Sendable {
    struct Refusal: Error {}
    struct Script: Sendable {
        /// Whether every file is reported to exist; nil reports the truth.
        var exists: Bool?
        /// Called before it creates a directory.
        var beforeMaking: (@Sendable () throws -> Void)?
    }
    let script = Box(Script())
    /// The names of the functions called, in their order.
    let calls = Box<[String]>([])

    func count(_ call: String) -> Int { calls.value.count { $0 == call } }

    override func fileExists(atPath path: String) -> Bool {
        calls.change { $0.append("exists") }
        return script.value.exists ?? super.fileExists(atPath: path)
    }

    override func createDirectory(
        atPath path: String,
        withIntermediateDirectories createIntermediates: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {
        calls.change { $0.append("make") }
        try script.value.beforeMaking?()
        try super.createDirectory(
            atPath: path,
            withIntermediateDirectories: createIntermediates,
            attributes: attributes
        )
    }
}

/// A value that converts to data and back only for one text.
struct StrictText: DataTransformable, Sendable, Equatable {
    struct Refusal: Error {}
    static let empty = StrictText(text: "")
    var text = "good"

    func toData() throws -> Data {
        guard text == "good" else { throw Refusal() }
        return Data(text.utf8)
    }

    static func fromData(_ data: Data) throws -> StrictText {
        guard data == Data("good".utf8) else { throw Refusal() }
        return StrictText()
    }
}

/// The cache error that `body` throws; nil if it throws none.
func cacheFailure<Value>(_ body: () throws -> Value) -> KingfisherError.CacheErrorReason? {
    do {
        _ = try body()
        return nil
    } catch {
        guard case .cacheError(let reason) = error as? KingfisherError else { return nil }
        return reason
    }
}

/// The UTF-8 bytes of a text.
func bytes(_ text: String) -> Data { Data(text.utf8) }
