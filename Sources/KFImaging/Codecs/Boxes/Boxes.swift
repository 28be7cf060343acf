// Reads the boxes of AVIF and HEIC files, for what the libraries that decode these do not report.
//
// The names are those of ISO/IEC 14496-12, section 4.2.

/// The bytes of a file that consists of boxes, or of a box.
struct Boxes {
    private let bytes: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes[...] }

    private init(_ bytes: Slice<UnsafeRawBufferPointer>) { self.bytes = bytes }

    /// How many bytes there are.
    var count: Int { bytes.count }

    /// The content of the first box of that name; nil when there is none.
    subscript(name: String) -> Boxes? { list.first { $0.name == name }?.content }

    /// The boxes in their order, up to the first that is broken.
    var list: [(name: String, content: Boxes)] {
        var (list, rest) = ([(name: String, content: Boxes)](), self)
        while var size = rest.number(0, 4), rest.count >= 8 {
            var headerSize = 8
            if size == 0 { size = UInt64(rest.count) }
            if size == 1 {
                guard let large = rest.number(8, 8) else { break }
                (size, headerSize) = (large, 16)
            }
            guard size >= UInt64(headerSize), size <= UInt64(rest.count) else { break }
            let name = String(decoding: rest.bytes.dropFirst(4).prefix(4), as: UTF8.self)
            list.append((name, Boxes(rest.bytes.prefix(Int(size)).dropFirst(headerSize))))
            rest = rest.after(Int(size))
        }
        return list
    }

    /// The bytes behind the first `count`.
    func after(_ count: Int) -> Boxes { Boxes(bytes.dropFirst(count)) }

    /// The big-endian number of `size` bytes at `offset`; nil when the box ends before.
    func number(_ offset: Int, _ size: Int) -> UInt64? {
        guard bytes.count >= offset + size else { return nil }
        return bytes.dropFirst(offset).prefix(size).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
