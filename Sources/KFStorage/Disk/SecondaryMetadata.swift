// Metadata of an entry that does not fit into its file's inode. Knows nothing of what it means.

import CKFLinux
import Glibc

/// A key that is too long to be stored in the inode of the entry's file, and user metadata.
///
/// Both in one extended attribute: file systems store longer attributes in a block of their own, and writing to that
/// block a second time takes longer than the first.
struct SecondaryMetadata: Sendable, Equatable {
    static let attribute = "user.kingfisher.more"
    /// Keys longer than this are not written: all attributes have to share a block, which is 4,096 bytes.
    static let longestKey = 2_000
    /// Longer user metadata is refused, for the same reason.
    static let longestUserMetadata = 1_500
    private static let version: UInt8 = 1
    /// What comes before the key: the version, and how many bytes the key has (2, little endian).
    private static let headLength = 3
    static let longestEncoding = headLength + longestKey + longestUserMetadata

    /// The key; `nil` if there is none.
    var key: String?
    /// The user metadata; `nil` if there is none.
    var userMetadata: [UInt8]?

    /// Leaves out what is empty or too long.
    init(key: String? = nil, userMetadata: [UInt8]? = nil) {
        self.key = key.flatMap { (1...Self.longestKey).contains($0.utf8.count) ? $0 : nil }
        self.userMetadata = userMetadata.flatMap { (1...Self.longestUserMetadata).contains($0.count) ? $0 : nil }
    }

    /// Decodes the bytes; bytes of any other kind decode to an empty one.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        guard bytes.count >= Self.headLength, bytes[0] == Self.version else { return }
        let length = Int(bytes[1]) | Int(bytes[2]) << 8
        let rest = bytes[Self.headLength...]
        guard length <= rest.count else { return }
        let text = String(validating: rest.prefix(length), as: UTF8.self)
        self.init(key: text, userMetadata: Array(rest.dropFirst(length)))
    }

    var isEmpty: Bool { key == nil && userMetadata == nil }

    func encoded() -> [UInt8] {
        let length = key?.utf8.count ?? 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headLength + length + (userMetadata?.count ?? 0))
        bytes += [Self.version, UInt8(length & 255), UInt8(length >> 8)]
        if let key { bytes.append(contentsOf: key.utf8) }
        if let userMetadata { bytes.append(contentsOf: userMetadata) }
        return bytes
    }
}

extension Descriptor {
    /// The secondary metadata of the entry; empty if there is none.
    var secondary: SecondaryMetadata {
        withAttribute(SecondaryMetadata.attribute, limit: SecondaryMetadata.longestEncoding) { SecondaryMetadata($0) }
    }

    /// Writes `secondary` in place of what is there; false with `errno` on failure.
    func keep(_ secondary: SecondaryMetadata) -> Bool {
        BlockingGuard.check()
        guard secondary.isEmpty else { return setAttribute(SecondaryMetadata.attribute, to: secondary.encoded()) }
        return SecondaryMetadata.attribute.withCString { fremovexattr(number, $0) == 0 } || errno == ENODATA
    }
}
