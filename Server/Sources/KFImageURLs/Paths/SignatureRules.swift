// Which signatures of paths are accepted. For the parser; programs that make URLs sign with it, too.

import Foundation
@_spi(Server) import KingfisherTiers

/// The keys that sign paths.
package struct SignatureRules: Hashable, Sendable {
    /// A key and the salt that goes with it.
    package struct Pair: Hashable, Sendable {
        package let key: [UInt8]
        package let salt: [UInt8]

        package init(key: [UInt8], salt: [UInt8]) {
            (self.key, self.salt) = (key, salt)
        }
    }

    /// The keys, and for each the salt at the same place.
    package var keys: [[UInt8]] = []
    package var salts: [[UInt8]] = []
    /// The length of signatures before their encoding, from 1 to 32 bytes.
    package var byteCount = 32
    /// Signatures that are accepted for every path.
    package var trusted: [String] = []

    package init() {}

    /// Any of them may have signed.
    ///
    /// Without pairs every signature is accepted.
    package var pairs: [Pair] { zip(keys, salts).map { Pair(key: $0, salt: $1) } }

    /// The signature of a path, which begins with a slash.
    package func signature(of path: String, with pair: Pair) -> String {
        encodedBase64URL(SHA256.authenticationCode(of: pair.salt + Array(path.utf8), key: pair.key).prefix(byteCount))
    }

    /// Throws unless the signature is one of a path, in one of the forms in which it may have been signed, or a trusted
    /// one.
    ///
    /// How long it takes tells nothing of them.
    func check(_ signature: String, of forms: Set<String>) throws(RequestError) {
        if signature.utf8.contains(UInt8(ascii: ":")) { throw .missingSignature(found: signature) }
        if pairs.isEmpty { return }
        var isAccepted = false
        let signatures = forms.flatMap { form in pairs.map { self.signature(of: form, with: $0) } }
        for accepted in signatures + trusted {
            let isEqual = areEqualInConstantTime(Array(signature.utf8), Array(accepted.utf8))
            isAccepted = isAccepted || isEqual
        }
        guard isAccepted else { throw .wrongSignature }
    }
}

/// Compares all bytes, wherever the first difference is; only the lengths may be seen from the time.
package func areEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
}
