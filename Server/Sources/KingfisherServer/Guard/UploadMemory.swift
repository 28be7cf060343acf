// Bounds how many bytes of uploads are in memory. For the routes, before they read an upload.

import Synchronization

/// A bounded number of bytes, of which each upload takes as many as it may become.
package final class UploadMemory: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    package init(limit: Int) { self.limit = limit }

    /// How many bytes are taken.
    package var count: Int { used.withLock { $0 } }

    /// Takes bytes, which are given back with the last reference; nil if there are too few.
    ///
    /// While nobody has any, one may have more than there are.
    package func share(of bytes: Int) -> Share? {
        let isTaken = used.withLock { used in
            guard used == 0 || bytes <= limit - used else { return false }
            used += bytes
            return true
        }
        return isTaken ? Share(of: self, bytes: bytes) : nil
    }

    /// The bytes of one upload.
    package final class Share: Sendable {
        private let memory: UploadMemory
        private let bytes: Int

        fileprivate init(of memory: UploadMemory, bytes: Int) { (self.memory, self.bytes) = (memory, bytes) }

        deinit { memory.used.withLock { $0 -= bytes } }
    }
}
