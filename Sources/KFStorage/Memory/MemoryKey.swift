// A key with its hash. For the memory store.

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
            digest = bytes.digest(MemoryKey.secrets)
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

    private static let secrets = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
}

extension UnsafeRawBufferPointer {
    /// Hashing a URL with the standard hasher takes a third of a whole memory hit.
    ///
    /// This reads sixteen bytes at a time and folds them through one wide multiplication; the secrets keep attackers
    /// from choosing colliding keys.
    @inline(__always)
    fileprivate func digest(_ secrets: (UInt64, UInt64)) -> UInt64 {
        var state = secrets.0 ^ UInt64(count)
        guard count >= 16 else { return Self.fold(state ^ shortWord(0), secrets.1 ^ shortWord(8)) }
        var offset = 0
        while offset + 16 < count {
            state = Self.fold(word(offset) ^ secrets.1, word(offset + 8) ^ state)
            offset += 16
        }
        // The last sixteen bytes, some of which may have been read before.
        return Self.fold(Self.fold(word(count - 16) ^ secrets.1, word(count - 8) ^ state), secrets.0 | 1)
    }

    @inline(__always)
    fileprivate func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else { return shortWord(0) == other.shortWord(0) }
        var offset = 0
        while offset + 8 < count {
            guard word(offset) == other.word(offset) else { return false }
            offset += 8
        }
        return word(count - 8) == other.word(count - 8)
    }

    @inline(__always)
    private func word(_ offset: Int) -> UInt64 { loadUnaligned(fromByteOffset: offset, as: UInt64.self) }

    /// Up to eight bytes from `offset` on, fewer or none at the end.
    private func shortWord(_ offset: Int) -> UInt64 {
        var word: UInt64 = 0
        var index = Swift.min(count, offset + 8)
        while index > offset {
            index -= 1
            word = word << 8 | UInt64(self[index])
        }
        return word
    }

    @inline(__always)
    private static func fold(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }
}
