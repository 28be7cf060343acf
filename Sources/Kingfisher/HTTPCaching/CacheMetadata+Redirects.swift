// What redirects mean for how long bytes may be used: a chain of responses is as fresh as the least fresh of them. For
// the rules of freshness and storing.

import Foundation
import FoundationNetworking

extension HTTPURLResponse {
    /// Whether a shared cache may store the response to a request with credentials.
    var isForEveryone: Bool {
        CacheControl(value(forHTTPHeaderField: "Cache-Control"), isShared: true).isForEveryone
    }
}

extension CacheMetadata {
    /// This response and those that redirected to it: each has to allow what is done with the bytes.
    var chain: [CacheMetadata] { [self] + redirects }

    /// Reads what limits the use of a redirect; nil if nothing does.
    ///
    /// Only permanent redirects (301, 308) may be kept if they do not say how long (RFC 9110, section 15.4): those are
    /// taken to last, others to be over at once. What remains is a lifetime in any case.
    init?(redirect response: HTTPURLResponse, to request: URLRequest?, storedAt: Date) {
        let said = CacheMetadata(response: response, to: request, storedAt: storedAt)
        let isPermanent = [301, 308].contains(response.statusCode)
        guard !isPermanent || said.cacheControl != nil || said.expires != nil || said.vary != nil else { return nil }
        // The lifetime in shared caches may be stated alone.
        let control = CacheControl(said.cacheControl)
        let isStated = control.maxAge != nil || said.expires != nil
        let lifetime = isStated ? [] : [isPermanent ? "max-age=\(Int.max)" : "max-age=0"]
        let directives = (said.cacheControl.map { [$0] } ?? []) + lifetime
        self.init(
            cacheControl: directives.isEmpty ? nil : directives.joined(separator: ", "),
            expires: said.expires,
            date: said.date,
            age: said.age,
            vary: said.vary,
            variant: said.variant,
            storedAt: storedAt
        )
    }
}
