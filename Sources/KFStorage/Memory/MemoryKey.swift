// A key with its hash. For the memory store.

import CKFLinux

/// A cache key as the memory store keeps it.
///
/// Keys are bytes, as in the file store: texts that differ in Unicode normalisation only are different keys.
struct MemoryKey: Sendable {
    /// Contiguous UTF-8, so that ``matches(_:)`` reads it directly.
    let text: String
    let digest: UInt64

    init(_ text: String) {
        var text = text
        text.makeContiguousUTF8()
        self.text = text
        digest = MemoryKey.withDigest(of: text) { $0.digest }
    }

    /// A key that is looked for: its bytes, hashed before any lock is taken, for as long as a call lasts.
    struct Query {
        fileprivate let bytes: UnsafeRawBufferPointer
        /// A number that is the same for the same bytes in this process.
        let digest: UInt64

        @inline(__always)
        fileprivate init(bytes: UnsafeRawBufferPointer) {
            self.bytes = bytes
            digest = kf_digest(bytes.baseAddress, bytes.count)
        }
    }

    /// Runs `body` with the bytes of `text`.
    @inline(__always)
    static func withDigest<Result>(of text: String, _ body: (Query) -> Result) -> Result {
        // Not a local function for both: it would be a closure that retains what `body` captures, on every hit.
        let result = text.utf8.withContiguousStorageIfAvailable { body(Query(bytes: UnsafeRawBufferPointer($0))) }
        if let result { return result }
        return Array(text.utf8).withUnsafeBufferPointer { body(Query(bytes: UnsafeRawBufferPointer($0))) }
    }

    /// Whether this is the key that is looked for.
    ///
    /// A plain loop: around a call of `memcmp` the compiler retains the text, which costs more than comparing it.
    @inline(__always)
    func matches(_ query: Query) -> Bool {
        guard digest == query.digest else { return false }
        return text.utf8.withContiguousStorageIfAvailable { UnsafeRawBufferPointer($0).equals(query.bytes) } ?? false
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else { return elementsEqual(other) }
        var offset = 0
        while offset + 8 < count {
            guard word(offset) == other.word(offset) else { return false }
            offset += 8
        }
        return word(count - 8) == other.word(count - 8)
    }

    @inline(__always)
    private func word(_ offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
}
