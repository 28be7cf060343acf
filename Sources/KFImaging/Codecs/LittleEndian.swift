// Numbers in bytes, the lowest byte first. Knows no format.

extension UnsafeRawBufferPointer {
    /// The number in up to seven bytes from an offset on; nil when the bytes end before that.
    func littleEndian(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= count - size else { return nil }
        return self[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}
