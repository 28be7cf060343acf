// Whether a request has the token that it needs. For the routes.

import HTTPTypes
import KFImageURLs
@_spi(Server) import KingfisherTiers

extension HTTPFields {
    /// Whether `Authorization` has a token, as `Bearer`; the time it takes says nothing about it.
    func hasToken(_ token: String) -> Bool {
        let field = self[.authorization] ?? ""
        let sent = field.hasPrefix("Bearer ") ? String(field.dropFirst(7)) : ""
        // Of hashes, whose lengths are equal.
        return areEqualInConstantTime(SHA256.hash(Array(sent.utf8)), SHA256.hash(Array(token.utf8)))
    }
}

extension RenderingError {
    static let withoutSecret = Self(
        status: 403,
        kind: "wrong_secret",
        reason: "The request has not the secret of KF_SECRET as Authorization: Bearer."
    )
}
