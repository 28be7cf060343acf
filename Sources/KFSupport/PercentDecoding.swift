// The bytes that percent-encoded text stands for. For `data:` URLs, and for `kf`, whose files need no names in UTF-8.

/// Decodes escapes; a `%` that begins none stands for itself.
package func percentDecoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    func digit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var rest = text
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count > 1, let high = digit(rest[rest.startIndex]),
            let low = digit(rest[rest.startIndex + 1])
        {
            bytes.append(high * 16 + low)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}
