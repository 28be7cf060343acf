// Files that have ended decoders, and are not decoded for a while. For DecoderPool.

import Foundation
import KFSupport

/// Remembers which files ended a decoder, by digests.
final class RefusedFiles: Sendable {
    private struct Entry {
        let file: Int
        var crashes: [SuspendingClock.Instant]
    }

    /// How long a crash counts.
    private static let memory = Duration.seconds(600)
    /// How many crashes a file may cause in this time.
    private static let mostCrashes = 2
    /// More than there are attacks at a time; the oldest is forgotten first.
    private static let mostFiles = 256

    private let entries = Locked<[Entry]>([])

    /// Whether a file has ended too many decoders.
    func refuse(_ data: Data) -> Bool {
        // Most programs never see such a file, and need not look at all bytes of theirs.
        guard entries.withLock({ !$0.isEmpty }) else { return false }
        let file = Self.digest(data)
        return entries.withLock { entries in
            Self.forget(&entries)
            return entries.contains { $0.file == file && $0.crashes.count >= Self.mostCrashes }
        }
    }

    /// Counts the decoders that a file has crashed, or kept busy until they timed out.
    func note(_ data: Data, crashes: Int) {
        let file = Self.digest(data)
        entries.withLock { entries in
            Self.forget(&entries)
            var entry = Entry(file: file, crashes: [])
            if let index = entries.firstIndex(where: { $0.file == file }) { entry = entries.remove(at: index) }
            entry.crashes += repeatElement(.now, count: crashes)
            if entries.count == Self.mostFiles { entries.removeFirst() }
            entries.append(entry)
        }
    }

    /// A digest with a key of this process: no file can be crafted to have the digest of another image.
    private static func digest(_ data: Data) -> Int {
        var hasher = Hasher()
        hasher.combine(data.count)
        data.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }

    private static func forget(_ entries: inout [Entry]) {
        let begin = SuspendingClock.now - memory
        for index in entries.indices { entries[index].crashes.removeAll { $0 < begin } }
        entries.removeAll { $0.crashes.isEmpty }
    }
}
