// The file names of keys.

import CKFLibCrypto
import Foundation

/// How keys become file names.
package struct FileNaming: Sendable, Equatable {
    /// Whether names are hashes of the keys, or the keys themselves.
    package var usesHash: Bool
    /// Appended to every name, without its dot.
    package var pathExtension: String?
    /// Whether a hashed name gets the extension its key seems to have.
    package var keepsExtensionOfKey: Bool

    package init(usesHash: Bool = true, pathExtension: String? = nil, keepsExtensionOfKey: Bool = false) {
        self.usesHash = usesHash
        self.pathExtension = pathExtension
        self.keepsExtensionOfKey = keepsExtensionOfKey
    }

    /// What follows a key, and no URL contains, in the keys of its *variants*: entries that are removed with it.
    package static let variantMark = "@ encoded "

    /// The key whose variant a key is; nil if the key is no variant.
    package static func mainKey(ofVariant key: String) -> Substring? {
        // Few keys have a blank, and looking for one byte is fast.
        guard key.utf8.contains(UInt8(ascii: " ")) else { return nil }
        return key.range(of: variantMark).map { key[..<$0.lowerBound] }
    }

    /// What the names of all variants of a key begin with.
    package static func variantPrefix(of key: some StringProtocol) -> String { hash(String(key)) + "-" }

    /// The file name of `key`; `forcedExtension` goes before every other extension.
    ///
    /// A name that no visible file in one directory can have (a separator, a leading dot, too long) is hashed as a
    /// whole, so no key and no extension leads out of the directory, and no two get the same name.
    package func fileName(forKey key: String, forcedExtension: String? = nil) -> String {
        let derived = usesHash && keepsExtensionOfKey ? Self.fileExtension(ofKey: key) : nil
        let base =
            if let main = Self.mainKey(ofVariant: key) {
                Self.variantPrefix(of: main) + Self.hash(key)
            } else {
                usesHash ? Self.hash(key) : key
            }
        let name = (forcedExtension ?? pathExtension ?? derived).map { "\(base).\($0)" } ?? base
        return Self.isSafe(name) ? name : Self.hash(name)
    }

    /// The SHA-256 of the text's UTF-8, as 64 lowercase hexadecimal digits.
    package static func hash(_ text: String) -> String {
        var text = text
        return withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { digest in
            let isMade = text.withUTF8 {
                EVP_Digest($0.baseAddress, $0.count, digest.baseAddress, nil, Algorithm.sha256.pointer, nil)
            }
            precondition(isMade == 1, "libcrypto made no SHA-256: there is no memory, or its configuration forbids it.")
            return digits(of: UnsafeRawBufferPointer(digest))
        }
    }

    /// Bytes as lowercase hexadecimal digits.
    private static func digits(of bytes: UnsafeRawBufferPointer) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digits.utf8Start[Int(byte >> 4)]
                buffer[2 * index + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// The extension a key seems to have: what follows the last dot before the first `@`, if that is at most 20 letters
    /// and digits.
    package static func fileExtension(ofKey key: String) -> String? {
        let path = key.prefix { $0 != "@" }
        guard let dot = path.lastIndex(of: ".") else { return nil }
        let candidate = path[path.index(after: dot)...]
        let isAccepted = (1...20).contains(candidate.count) && candidate.allSatisfy { $0.isLetter || $0.isNumber }
        return isAccepted ? String(candidate) : nil
    }

    /// Whether `name` can be the name of a visible file in a directory.
    package static func isSafe(_ name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            // Called at every access, so bytes are searched by the C library.
            guard let start = bytes.baseAddress, (1...Int(NAME_MAX)).contains(bytes.count),
                bytes[0] != UInt8(ascii: ".")
            else { return false }
            return memchr(start, Int32(UInt8(ascii: "/")), bytes.count) == nil && memchr(start, 0, bytes.count) == nil
        }
    }
}

/// An algorithm of libcrypto, fetched once: looking it up takes longer than hashing a key.
// SAFETY: an algorithm never changes, and libcrypto lets any number of threads use it.
private struct Algorithm: @unchecked Sendable {
    static let sha256: Algorithm = {
        // Names are made while the process exits, too: libcrypto must not clean up before.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
        return Algorithm(pointer: EVP_MD_fetch(nil, "SHA256", nil))
    }()

    let pointer: OpaquePointer?
}
