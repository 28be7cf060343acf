// Undoes gzip, with all its members, and deflate as bytes arrive. For bodies of responses and compressed drawings.

internal import CKFZlib

/// The codings of a body, undone piece by piece.
///
/// Libcurl could do that, but it knows the first member of gzip only, and refuses the names that are no coding.
package final class ContentDecoder {
    /// What `Accept-Encoding` asks for.
    package static let accepted = "gzip, deflate"
    /// More codings than a server has a use for would be there to exhaust memory.
    private static let mostCodings = 5

    /// The coding that was applied last comes first.
    private let inflaters: [Inflater]

    /// Nil if a coding of the list cannot be undone.
    package init?(_ codings: [String]) {
        let formats = codings.compactMap { Inflater.Format(coding: $0) }
        guard formats.count == codings.count, formats.count <= Self.mostCodings else { return nil }
        inflaters = formats.reversed().map(Inflater.init)
    }

    /// Whether the bytes so far belong to no coding.
    package var isDamaged: Bool { inflaters.contains(where: \.isDamaged) }
    /// Whether the bytes so far are all of a body; none at all are an empty one.
    package var isComplete: Bool { inflaters.allSatisfy(\.isComplete) }

    /// Gives what bytes of the body stand for to the sink; false if it is damaged, or the sink wants no more.
    package func decode(_ bytes: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        decode(bytes, with: inflaters[...], to: sink)
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer,
        with inflaters: ArraySlice<Inflater>,
        to sink: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        guard let first = inflaters.first else { return sink(bytes) }
        return first.inflate(bytes) { decode($0, with: inflaters.dropFirst(), to: sink) }
    }
}

/// One coding, undone by zlib.
private final class Inflater {
    enum Format {
        case gzip, deflate

        init?(coding: String) {
            switch coding {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            default: return nil
            }
        }
    }

    private static let outputCount = 32 << 10

    private let format: Format
    /// Zlib remembers its address.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: outputCount, alignment: 16)
    /// The first two bytes, which tell what kind of deflate it is, and which of what follows a member is another.
    private var beginning: [UInt8] = []
    private var isRunning = false
    private var hasMember = false
    /// Whether all that follows is no part of the body.
    private var isOver = false
    private(set) var isDamaged = false

    init(_ format: Format) {
        self.format = format
        stream.initialize(to: z_stream())
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// A byte that is left alone after a member begins no other one.
    var isComplete: Bool { isOver || (!isRunning && (hasMember || beginning.isEmpty)) }

    func inflate(_ bytes: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        var rest = bytes
        while !rest.isEmpty, !isOver {
            guard isRunning else {
                beginning.append(rest[0])
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
                guard beginning.count == 2 else { continue }
                let start = beginning
                guard begin(), start.withUnsafeBytes({ run($0, to: sink) }) != nil else { return isOver }
                continue
            }
            guard let left = run(rest, to: sink) else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.suffix(left))
        }
        return true
    }

    /// Prepares zlib for what the first two bytes are; false if they are no part of the body, or damaged.
    private func begin() -> Bool {
        let (first, second) = (Int(beginning[0]), Int(beginning[1]))
        let windowBits: Int32
        switch format {
        case .gzip:
            isOver = hasMember && (first, second) != (0x1F, 0x8B)
            windowBits = MAX_WBITS + 16
        case .deflate:
            // Zlib's format is meant; servers that leave its frame out are older than the standard's wording.
            let isFramed = first & 15 == 8 && first >> 4 <= 7 && (first << 8 | second) % 31 == 0
            windowBits = isFramed ? MAX_WBITS : -MAX_WBITS
        }
        guard !isOver else { return false }
        let isFirst = !hasMember
        let size = Int32(MemoryLayout<z_stream>.size)
        let code = isFirst ? inflateInit2_(stream, windowBits, ZLIB_VERSION, size) : inflateReset2(stream, windowBits)
        (isRunning, isDamaged) = (code == Z_OK, code != Z_OK)
        return isRunning
    }

    /// Inflates until the bytes or the member end; how many bytes are left, or nil if it cannot go on.
    private func run(_ bytes: UnsafeRawBufferPointer, to sink: (UnsafeRawBufferPointer) -> Bool) -> Int? {
        // Zlib reads from this pointer only.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        var code = Z_OK
        repeat {
            stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            code = CKFZlib.inflate(stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                isDamaged = true
                return nil
            }
            let made = output.prefix(output.count - Int(stream.pointee.avail_out))
            guard made.isEmpty || sink(UnsafeRawBufferPointer(rebasing: made)) else { return nil }
        } while code == Z_OK && (stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0)
        if code == Z_STREAM_END {
            (isRunning, hasMember, isOver, beginning) = (false, true, format == .deflate, [])
        }
        return Int(stream.pointee.avail_in)
    }
}
