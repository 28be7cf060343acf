// Helpers that the tests of the stores share: a clock, a folder, a store in it.

import Foundation
import Glibc
import KFSupport

@testable import KFStorage

/// A clock that stands still until it is moved.
final class TestClock: Sendable {
    private let state = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { state.withLock { $0 } }
    var read: @Sendable () -> Date { { self.now } }

    func advance(_ seconds: TimeInterval) { state.withLock { $0 += seconds } }
}

/// A value that closures of a test share.
final class SharedValue<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Replaces the value, and returns the old one.
    func exchange(with value: Value) -> Value {
        state.withLock { state in
            defer { state = value }
            return state
        }
    }

    /// Changes the value, and returns the result of the change.
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { state.withLock { body(&$0) } }
}

/// A new folder that is removed with the last reference.
final class Scratch: Sendable {
    let path: String

    init(in parent: String = NSTemporaryDirectory()) throws {
        path = (parent as NSString).appendingPathComponent("kf-storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }
}

/// A file store in a folder of its own, with a clock that stands still until it is moved.
struct StoreRig {
    let clock = TestClock()
    let scratch: Scratch
    let store: FileStore

    // `isTimed`: whether the store reads the time from `clock`, and not from the system.
    init(isTimed: Bool = true) throws {
        scratch = try Scratch()
        store = isTimed ? FileStore(path: scratch("cache"), clock: clock.read) : FileStore(path: scratch("cache"))
    }
}

/// A suite about such a store, whose parts its tests name as their own.
protocol StoreSuite { var rig: StoreRig { get } }

extension StoreSuite {
    var clock: TestClock { rig.clock }
    var scratch: Scratch { rig.scratch }
    var store: FileStore { rig.store }
}

/// The names in the directory at `path`, hidden ones included.
func names(in path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}

/// The temporary folder of the directory at `path`.
func folder(of path: String) -> String {
    let url = URL(fileURLWithPath: path)
    return url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).tmp").path
}

/// The temporary files, leftovers included, of the directory at `path`.
func temporaryFiles(of path: String) -> [String] { names(in: folder(of: path)).filter { $0.hasPrefix(".kf-") } }

/// Waits until files in the folder at `path` get a later time than any got so far: some systems count it in ticks.
func letTimePass(at path: String) throws {
    func time() throws -> Date? {
        let probe = path + "/probe"
        defer { unlink(probe) }
        try Data().write(to: URL(fileURLWithPath: probe))
        return try FileManager.default.attributesOfItem(atPath: probe)[.modificationDate] as? Date
    }
    let start = try time()
    while try time() == start {}
}
