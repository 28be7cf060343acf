// Bytes of a body between libcurl and its reader: copied once, then handed over. For CurlTransfer.

internal import Foundation

/// Memory that grows by what arrives and is given away as `Data`, without a copy.
struct BodyBuffer: ~Copyable {
    private var bytes: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0

    deinit { free(bytes) }

    /// Takes more bytes, with memory for so many as are `expected`; false if there is none.
    mutating func append(_ more: UnsafeRawBufferPointer, expected: Int) -> Bool {
        guard let source = more.baseAddress else { return true }
        if count + more.count > capacity {
            let wanted = max(count + more.count, expected, capacity + min(capacity, 16 << 20))
            guard let larger = realloc(bytes, wanted) else { return false }
            (bytes, capacity) = (larger, wanted)
        }
        bytes?.advanced(by: count).copyMemory(from: source, byteCount: more.count)
        count += more.count
        return true
    }

    /// Gives the bytes away.
    mutating func take() -> Data {
        defer { (bytes, capacity, count) = (nil, 0, 0) }
        guard let bytes else { return Data() }
        return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
    }
}
