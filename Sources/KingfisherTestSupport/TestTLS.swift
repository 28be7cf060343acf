// The server's side of TLS, through OpenSSL.

internal import CKFOpenSSL
internal import Glibc

/// An error of OpenSSL.
struct TLSError: Error, CustomStringConvertible {
    let description: String

    /// The failed step, and what OpenSSL says about it.
    init(_ step: String) {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_get_error(), &text, text.count)
        let length = text.firstIndex(of: 0) ?? text.count
        description = "\(step): \(String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }
}

/// A certificate and its key, ready for connections.
// SAFETY: the context is not changed after `init`, and OpenSSL lets any thread make sessions with it.
final class TestTLS: @unchecked Sendable {
    fileprivate let context: OpaquePointer

    init(_ certificate: TestCertificate) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError("no TLS context") }
        self.context = context
        let leaf = Self.reading(certificate.pem) { PEM_read_bio_X509($0, nil, nil, nil) }
        defer { X509_free(leaf) }
        guard SSL_CTX_use_certificate(context, leaf) == 1 else { throw TLSError("the certificate is refused") }
        let key = Self.reading(TestCertificate.keyPEM) { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context, key) == 1 else { throw TLSError("the key is refused") }
    }

    deinit { SSL_CTX_free(context) }

    private static func reading(_ text: String, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        var text = text
        return text.withUTF8 { bytes in
            guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
            defer { BIO_free(source) }
            return read(source)
        }
    }
}

/// The TLS of one connection; used by its thread only.
final class TLSSession {
    private let session: OpaquePointer

    /// Makes the handshake; nil if the client refuses.
    init?(_ context: TestTLS, socket: Int32) {
        guard let session = SSL_new(context.context) else { return nil }
        self.session = session
        guard SSL_set_fd(session, socket) == 1, SSL_accept(session) == 1 else { return nil }
    }

    deinit { SSL_free(session) }

    /// Reads the available bytes, waiting for the first one; 0 or less at the end.
    func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        Int(SSL_read(session, room.baseAddress, Int32(clamping: room.count)))
    }

    /// Writes all bytes, at most 2 GB; 0 or less if the connection is over.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        Int(SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    /// Notifies the client of the end.
    func sayGoodbye() { SSL_shutdown(session) }
}
