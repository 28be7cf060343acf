// SHA-256 and its HMAC by libcrypto, and hexadecimal digits. For SignatureV4, and for the image server.

import CKFLibCrypto
public import Foundation

/// The hash of signatures: 32 bytes.
@_spi(Server) public enum SHA256 {
    /// Requests are signed while the process exits, too: libcrypto must not clean up before.
    private static let isPrepared = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// The SHA-256 of bytes.
    public static func hash(_ bytes: some ContiguousBytes) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            hash { EVP_Q_digest(nil, "SHA256", nil, bytes.baseAddress, bytes.count, $0, $1) == 1 }
        }
    }

    /// The HMAC of bytes with a key, which may be empty.
    public static func authenticationCode(of bytes: some ContiguousBytes, key: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { bytes in
            let (start, size) = (bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
            return hash { output, count in
                EVP_Q_mac(nil, "HMAC", nil, "SHA256", nil, key, key.count, start, size, output, 32, count) != nil
            }
        }
    }

    private static func hash(by make: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>) -> Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            let isMade = isPrepared && make(buffer.baseAddress, &count)
            precondition(isMade, "libcrypto made no SHA-256: there is no memory, or its configuration forbids it.")
        }
    }

    /// Bytes as lowercase hexadecimal digits.
    public static func hexadecimal(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digit(byte >> 4, ten: "a")
                buffer[2 * index + 1] = digit(byte & 15, ten: "a")
            }
            return 2 * bytes.count
        }
    }

    /// The hexadecimal digit of a number below 16, with the letter that stands for ten.
    static func digit(_ number: UInt8, ten: Unicode.Scalar) -> UInt8 {
        number < 10 ? number + UInt8(ascii: "0") : number - 10 + UInt8(ascii: ten)
    }
}
