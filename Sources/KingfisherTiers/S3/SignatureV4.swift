// Signature Version 4: how a request to S3 proves who sends it. For S3Client.

package import Foundation
import KFSupport

/// Signs requests for one region.
package final class SignatureV4: Sendable {
    /// The key that signs all requests of a day.
    private struct DayKey {
        var day = ""
        var secret = ""
        var bytes: [UInt8] = []
    }

    private static let algorithm = "AWS4-HMAC-SHA256"

    private let region: String
    private let key = Locked(DayKey())

    /// Signs for a region, such as `eu-central-1`.
    package init(region: String) { self.region = region }

    /// Adds the fields that say who sends a request, when, and with which body.
    ///
    /// The signature covers all fields that it has then.
    /// - Parameters:
    ///   - request: The request, with its field `host`.
    ///   - bodyHash: The SHA-256 of its body, in hexadecimal digits.
    ///   - date: The time at the server.
    ///   - credentials: Whose request it is.
    package func sign(_ request: inout S3Request, bodyHash: String, at date: Date, by credentials: S3Credentials) {
        let time = Self.timestamp(date)
        request.fields.append(("x-amz-content-sha256", bodyHash))
        request.fields.append(("x-amz-date", time))
        if let token = credentials.sessionToken { request.fields.append(("x-amz-security-token", token)) }
        request.fields.sort { $0.name < $1.name }

        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/s3/aws4_request"
        let names = request.fields.map(\.name).joined(separator: ";")
        let canonical = Self.canonical(request, signedFields: names, bodyHash: bodyHash)
        let hash = SHA256.hexadecimal(SHA256.hash(Array(canonical.utf8)))
        let text = "\(Self.algorithm)\n\(time)\n\(scope)\n\(hash)"
        let dayKey = key(of: day, credentials.secretAccessKey)
        let signature = SHA256.hexadecimal(SHA256.authenticationCode(of: Array(text.utf8), key: dayKey))
        let value =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope),SignedHeaders=\(names),Signature=\(signature)"
        request.fields.append(("authorization", value))
    }

    /// The text whose hash is signed.
    private static func canonical(_ request: S3Request, signedFields: String, bodyHash: String) -> String {
        var text = "\(request.method)\n\(request.path)\n\(request.canonicalQuery)\n"
        for field in request.fields { text += "\(field.name):\(field.value)\n" }
        text += "\n\(signedFields)\n\(bodyHash)"
        return text
    }

    /// A time as signatures have it: `20130524T000000Z`.
    private static func timestamp(_ date: Date) -> String {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func digits(_ number: CInt, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let day = digits(parts.tm_year + 1_900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return day + "T" + digits(parts.tm_hour, 2) + digits(parts.tm_min, 2) + digits(parts.tm_sec, 2) + "Z"
    }

    /// The key of a day, from the cache if the last request had the same.
    private func key(of day: String, _ secret: String) -> [UInt8] {
        key.withLock { key in
            if key.day != day || key.secret != secret {
                let start = Array("AWS4\(secret)".utf8)
                let bytes = [day, region, "s3", "aws4_request"].reduce(start) {
                    SHA256.authenticationCode(of: Array($1.utf8), key: $0)
                }
                key = DayKey(day: day, secret: secret, bytes: bytes)
            }
            return key.bytes
        }
    }
}
