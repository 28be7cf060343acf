// What a transfer sends and under which conditions, and the key by which downloads share it. For ByteLoader, Transfer.

import Foundation
import FoundationNetworking
import KFTransport

/// The request, and the conditions under which it is sent.
struct TransferConditions: Sendable {
    let request: URLRequest
    let policy: TransportPolicy
    var redirectHandler: (any ImageDownloadRedirectHandler)?
    var responseModifier: (any ImageDownloadResponseModifier)?
    var decryptor: (any ImageDataDecryptor)?
    var dataModifier: (any ImageDownloadDataModifier)?
    /// How many redirects are followed, and which fields they do not take along to another origin.
    var maxRedirectCount = 20
    var fieldsRemovedAcrossOrigins: Set<String> = []
    /// nil: the delegate decides.
    var acceptableStatusCodes: Set<Int>?
    /// nil: any.
    var acceptableContentTypes: Set<String>?
    /// Which purge was the last one before: what began before a purge is not joined after it.
    var generation: UInt64 = 0
}

extension TransferConditions {
    /// Whether a status is an accepted one; where none is named, a function judges it.
    func acceptsStatus(_ status: Int, orIf isUsual: (Int) -> Bool) -> Bool {
        acceptableStatusCodes?.contains(status) ?? isUsual(status)
    }

    /// Whether the media type of a response is an accepted one; where none is given, it is not checked.
    func acceptsType(of response: TransportResponse) -> Bool {
        guard let acceptableContentTypes,
            let type = response.value(forHTTPHeaderField: "Content-Type")?.prefix(while: { $0 != ";" })
        else { return true }
        let name = type.trimmingCharacters(in: .whitespaces).lowercased()
        let family = name.prefix { $0 != "/" } + "/*"
        return acceptableContentTypes.contains { [name, String(family), "*/*"].contains($0.lowercased()) }
    }

    /// Whether the request is conditional, so that "not modified" and the like are responses to it.
    var isConditional: Bool {
        let conditions = ["If-None-Match", "If-Modified-Since", "If-Range"]
        return conditions.contains { request.value(forHTTPHeaderField: $0) != nil }
    }

    /// Whether a part of the body was asked for, and it is that part.
    func hasRange(_ response: TransportResponse) -> Bool {
        guard let wanted = request.value(forHTTPHeaderField: "Range"), wanted.hasPrefix("bytes="),
            let given = response.value(forHTTPHeaderField: "Content-Range"), given.hasPrefix("bytes ")
        else { return false }
        let first = wanted.dropFirst(6).prefix { $0 != "-" }
        // Of the last so many bytes ("bytes=-500") the first is not known.
        return first.isEmpty || first == given.dropFirst(6).prefix { $0 != "-" }
    }
}

/// The key by which downloads share a transfer: all that is sent, and the conditions under which it may fail.
struct TransferKey: Hashable, Sendable {
    /// The URL of the request.
    let url: URL?
    private let method: String
    private let fields: [String: String]
    private let body: Data?
    private let policy: TransportPolicy
    private let acceptableStatusCodes: Set<Int>?
    private let acceptableContentTypes: Set<String>?
    private let generation: UInt64
    /// The code that changes redirects, responses and bytes.
    private let code: UserCode

    init(_ conditions: TransferConditions) {
        let request = conditions.request
        url = request.url
        method = request.httpMethod ?? "GET"
        fields = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody
        var policy = conditions.policy
        policy.order = .oldestFirst  // when it goes out is no condition
        self.policy = policy
        acceptableStatusCodes = conditions.acceptableStatusCodes
        acceptableContentTypes = conditions.acceptableContentTypes
        generation = conditions.generation
        code = UserCode(
            redirectHandler: conditions.redirectHandler,
            responseModifier: conditions.responseModifier,
            decryptor: conditions.decryptor,
            dataModifier: conditions.dataModifier
        )
    }

    /// Whether a later download may have an equal key: not with code that cannot be compared.
    var mayRecur: Bool { code.mayRecur }

    /// Requests for one URL are few; hashing all their fields would take longer than comparing them.
    func hash(into hasher: inout Hasher) { hasher.combine(url) }
}
