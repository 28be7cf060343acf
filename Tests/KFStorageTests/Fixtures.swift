// What the tests of the stores share: a clock they set, a folder of their own. Knows nothing of stores.

import Foundation
import KFSupport

/// A clock that stands still until it is moved.
final class TestClock: Sendable {
    private let state = Locked(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { state.withLock { $0 } }
    var read: @Sendable () -> Date { { self.now } }

    func advance(_ seconds: TimeInterval) { state.withLock { $0 += seconds } }
}

/// A new folder that is removed when the object goes.
final class Scratch: Sendable {
    let path: String

    init(in parent: String = NSTemporaryDirectory()) throws {
        path = (parent as NSString).appendingPathComponent("kf-storage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func callAsFunction(_ name: String) -> String { path + "/" + name }
}

/// The names in the directory at `path`, hidden ones included.
func names(in path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
}
