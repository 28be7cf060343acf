// Which requests a response answers that depends on their fields (`Vary`): RFC 9111, section 4.1.

import Foundation
import FoundationNetworking
import KFStorage

extension CacheMetadata {
    /// The bytes of the longest field `Vary` that is kept; a longer one counts as `*`.
    static let longestVary = 500

    /// Whether another request may have another response.
    var variesWithRequest: Bool { chain.contains { $0.isVarying } }

    /// The same, without its redirects.
    private var isVarying: Bool { vary.map { Self.names($0) != [] } ?? false }

    /// Whether the response is one to a request such as this; one to unknown fields, or of `Vary: *`, is not.
    func answers(_ request: URLRequest) -> Bool {
        chain.allSatisfy { response in
            guard let vary = response.vary, response.isVarying else { return true }
            return response.variant != nil && response.variant == Self.variant(vary, of: request)
        }
    }

    /// A digest of the values that a request has in some fields; nil for all fields (`*`).
    ///
    /// What is digested may be a secret.
    static func variant(_ vary: String, of request: URLRequest) -> String? {
        let names = names(vary)
        guard !names.contains("*") else { return nil }
        let fields = names.map { name in "\(name):\(request.value(forHTTPHeaderField: name) ?? "")\n" }
        return FileNaming.hash(fields.joined())
    }

    /// The names in lower case, in order.
    ///
    /// Compression is left out: the transport undoes it, and no image depends on it.
    private static func names(_ vary: String) -> [String] {
        let names = vary.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return Set(names).subtracting(["", "accept-encoding"]).sorted()
    }
}
