// The hash of signatures, on published vectors.

@_spi(Server) import KingfisherTiers
import Testing

@Suite struct SHA256Tests {
    @Test(
        "Codes are those of RFC 4231; texts and keys may be empty",
        arguments: [
            (
                "Hi There", String(repeating: "\u{B}", count: 20),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                "what do ya want for nothing?", "Jefe",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
        ]
    )
    func authenticationCode(text: String, key: String, code: String) {
        let bytes = SHA256.authenticationCode(of: Array(text.utf8), key: Array(key.utf8))
        #expect(SHA256.hexadecimal(bytes) == code)
    }
}
