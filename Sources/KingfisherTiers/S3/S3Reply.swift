// The response of S3 to one request, and what it says about a failure. For S3Client, S3Tier and S3Reader.

import CKFCurl
import Foundation
import FoundationNetworking
import KFTransport

/// A response with its whole body.
struct S3Reply: Sendable {
    let response: TransportResponse
    let body: Data
    let status: Int
    /// S3's name for the failure; nil for a success, or if the body names none.
    let code: String?

    init(_ response: TransportResponse, body: Data) {
        (self.response, self.body, status) = (response, body, response.statusCode ?? 0)
        code = (200..<300).contains(status) ? nil : Self.word("Code", in: body)
    }

    var isSuccess: Bool { (200..<300).contains(status) }

    /// The fields of its head.
    var fields: [String: String] {
        let fields = (response.urlResponse as? HTTPURLResponse)?.allHeaderFields ?? [:]
        return Dictionary(fields.map { ("\($0.key)", "\($0.value)") }) { first, _ in first }
    }

    /// Whether there is no such object, while there is the bucket.
    var isMissingObject: Bool { status == 404 && code == "NoSuchKey" }

    /// A secret that was replaced makes another signature; OpenStack Swift says the same of a key that is not known.
    private static let credentialFailures: Set = [
        "ExpiredToken", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId", "SignatureDoesNotMatch",
    ]

    /// Whether other credentials may be accepted.
    var asksForOtherCredentials: Bool {
        // A response to HEAD has no body that could say it.
        if body.isEmpty { return status == 400 || status == 403 }
        return Self.credentialFailures.contains(code ?? "")
    }

    /// The region that the bucket is in, if that is why the request failed.
    var otherRegion: String? {
        guard (300..<400).contains(status) || code == "AuthorizationHeaderMalformed" else { return nil }
        return response.value(forHTTPHeaderField: "x-amz-bucket-region").flatMap(Self.word)
            ?? Self.word("Region", in: body)
    }

    /// The time at the server, from the field `Date`.
    var date: Date? {
        guard let field = response.value(forHTTPHeaderField: "Date") else { return nil }
        let seconds = curl_getdate(field, nil)
        return seconds > 0 ? Date(timeIntervalSince1970: TimeInterval(seconds)) : nil
    }

    /// The text of an element, if it is one word: it is shown, whatever the server has sent.
    private static func word(_ name: String, in body: Data) -> String? {
        S3Document(body.prefix(64 << 10)).texts(of: name).first.flatMap(word)
    }

    private static func word(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && S3Request.isWord(text, with: "-") ? text : nil
    }
}
