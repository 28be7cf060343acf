// What is kept with an entry and has no room beside its file's status. Knows nothing of what it means.

import CKFLinux
import Glibc

/// A key that is too long to lie beside the status of the entry's file, and an attachment.
///
/// Both in one extended attribute: file systems keep what is longer in a block, and to write into that a second time takes
/// longer than the first.
struct EntrySupplement: Sendable, Equatable {
    static let attribute = "user.kingfisher.more"
    /// Keys longer than this are not written: all attributes have to share a block, which is 4,096 bytes.
    static let longestKey = 2_000
    /// Longer attachments are refused, for the same reason.
    static let longestAttachment = 1_500
    private static let version: UInt8 = 1
    /// What comes before the key: the version, and how many bytes the key has (2, little endian).
    private static let headLength = 3
    static let longestEncoding = headLength + longestKey + longestAttachment

    /// `nil` or too long: there is none.
    var key: String?
    /// `nil` or empty: there is none.
    var attachment: [UInt8]?

    /// What is empty, or too long, is left out.
    init(key: String? = nil, attachment: [UInt8]? = nil) {
        self.key = key.flatMap { (1...Self.longestKey).contains($0.utf8.count) ? $0 : nil }
        self.attachment = attachment.flatMap { (1...Self.longestAttachment).contains($0.count) ? $0 : nil }
    }

    /// Bytes of another kind are an empty one.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        guard bytes.count >= Self.headLength, bytes[0] == Self.version else { return }
        let length = Int(bytes[1]) | Int(bytes[2]) << 8
        let rest = bytes[Self.headLength...]
        guard length <= rest.count else { return }
        let text = String(validating: rest.prefix(length), as: UTF8.self)
        self.init(key: text, attachment: Array(rest.dropFirst(length)))
    }

    var isEmpty: Bool { key == nil && attachment == nil }

    func encoded() -> [UInt8] {
        let length = key?.utf8.count ?? 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headLength + length + (attachment?.count ?? 0))
        bytes += [Self.version, UInt8(length & 255), UInt8(length >> 8)]
        if let key { bytes.append(contentsOf: key.utf8) }
        if let attachment { bytes.append(contentsOf: attachment) }
        return bytes
    }
}

extension Descriptor {
    /// What is written beside the entry's bytes; empty if nothing is.
    var supplement: EntrySupplement {
        withAttribute(EntrySupplement.attribute, limit: EntrySupplement.longestEncoding) { EntrySupplement($0) }
    }

    /// Writes `supplement` in place of one that is there; false with `errno` on failure.
    func keep(_ supplement: EntrySupplement) -> Bool {
        BlockingGuard.check()
        guard supplement.isEmpty else { return setAttribute(EntrySupplement.attribute, to: supplement.encoded()) }
        return EntrySupplement.attribute.withCString { fremovexattr(number, $0) == 0 } || errno == ENODATA
    }
}
