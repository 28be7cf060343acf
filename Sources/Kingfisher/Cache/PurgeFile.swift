// The purges that outlive a process: a table, and a file to which each purge is appended. For PurgeLog.

import Foundation
import Glibc

/// The files beside a cache's entries that keep its purges; several processes may use them.
///
/// A purge is appended, which costs the same however many purges there are; beyond 256 KB the appended purges are
/// merged into the table.
/// Without a directory there are no entries that were purged, and nothing is kept.
struct PurgeFile: Sendable {
    /// Names that no entry has.
    private let (table, appended): (URL, String)
    /// How many bytes are appended before the table takes them over.
    private static let longest = 256 << 10

    init(directory: URL) {
        table = directory.appendingPathComponent(".purges", isDirectory: false)
        appended = directory.appendingPathComponent(".purges-appended", isDirectory: false).path
    }

    /// All purges that are kept; nil if there are none.
    func read() -> PurgeTable? {
        locked(isRead: true) { descriptor in
            let all = content(descriptor)
            // The end may be damaged after a failure of power: what is appended behind it would not be read.
            if let all { write(all, descriptor) }
            return all
        } ?? content(nil)
    }

    /// Keeps a table beside what other processes have added.
    func merge(_ table: PurgeTable) {
        _ = locked { descriptor in
            var all = table
            if let kept = content(descriptor) { all.merge(kept) }
            write(all, descriptor)
        }
    }

    /// Adds purges.
    func append(_ records: [PurgeRecord], to table: () -> PurgeTable) {
        var data = Data()
        for record in records {
            var content = Data()
            record.append(to: &content)
            data.append(field: content.sealed(version: Self.version))
        }
        let length = locked { descriptor -> Int? in
            let before = lseek(descriptor, 0, SEEK_END)
            let written = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard before >= 0, written == data.count else {
                if before >= 0 { ftruncate(descriptor, before) }
                return nil
            }
            return before + written
        }
        // Where there is no room for the end of a file, there may be some for another one.
        if case .some(.some(let length)) = length, length <= Self.longest { return }
        merge(table())
    }

    private static let version: UInt8 = 1

    /// Runs a body with the file of appended purges, which no other process has meanwhile; nil without the directory,
    /// and for reading also without the file.
    private func locked<Value>(isRead: Bool = false, _ body: (Int32) -> Value) -> Value? {
        let descriptor = open(appended, O_RDWR | O_APPEND | O_CLOEXEC | (isRead ? 0 : O_CREAT), 0o644)
        guard descriptor >= 0 else { return nil }
        // Closing unlocks.
        defer { close(descriptor) }
        // A file system without locks keeps the purges nevertheless; two processes at one moment may then lose some.
        flock(descriptor, LOCK_EX)
        return body(descriptor)
    }

    /// The table with the purges that were appended.
    private func content(_ descriptor: Int32?) -> PurgeTable? {
        var all = (try? Data(contentsOf: table)).flatMap { PurgeTable(encoded: $0) }
        guard descriptor != nil, var rest = try? Data(contentsOf: URL(fileURLWithPath: appended)), !rest.isEmpty else {
            return all
        }
        var result = all ?? PurgeTable()
        while var record = rest.popField()?.unsealed(version: Self.version), let record = PurgeRecord(from: &record) {
            result.add(record)
        }
        all = result
        return all
    }

    /// Writes the table, and then has nothing appended.
    private func write(_ all: PurgeTable, _ descriptor: Int32) {
        guard (try? all.encoded().write(to: table, options: .atomic)) != nil else { return }
        ftruncate(descriptor, 0)
    }
}
