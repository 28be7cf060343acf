// An untrusted certificate, for the test server to speak TLS with.

internal import NIOSSL

/// A self-signed certificate for `localhost` and its key.
///
/// Made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost
/// -addext subjectAltName=DNS:localhost`. The key protects nothing.
enum TestCertificate {
    static func configuration() throws -> TLSConfiguration {
        let certificate = try NIOSSLCertificate(bytes: Array(certificatePEM.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)
        return .makeServerConfiguration(certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
    }

    private static let certificatePEM = """
        -----BEGIN CERTIFICATE-----
        MIIBlTCCATugAwIBAgIUOlvdRE9GZ+aBo0ZqiWARsP9ONzkwCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA4MjQ0NFoYDzIxMjYxMDI4
        MDgyNDQ0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAAT6+EyeMcQCQV1RzBnOTcfS97QQbwl9Mlu8LYtUVYAQBYq7hCcyiNrG
        JR41MFDbQUrvjU8dzz6vNHWiPGPEiOjEo2kwZzAdBgNVHQ4EFgQUM7YhyKzSYHWA
        N6EWKTDMhuY79gAwHwYDVR0jBBgwFoAUM7YhyKzSYHWAN6EWKTDMhuY79gAwDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        SAAwRQIgFcsB0WzhtAJK8zL8wRihbrvGZxN5qXu6IYZHtHgktTACIQDFql4VdGyz
        6HCOkdNLdnDqWFFNS8s6YqSYAvIeDCEG9g==
        -----END CERTIFICATE-----
        """

    private static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgF7gP6YN07BfWByw1
        cKz7aUzMmuT/FGaLLGFwgQmjGCGhRANCAAT6+EyeMcQCQV1RzBnOTcfS97QQbwl9
        Mlu8LYtUVYAQBYq7hCcyiNrGJR41MFDbQUrvjU8dzz6vNHWiPGPEiOjE
        -----END PRIVATE KEY-----
        """
}
