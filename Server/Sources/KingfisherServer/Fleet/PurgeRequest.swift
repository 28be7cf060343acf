// What a request to purge asks for. For the routes.

import Foundation
import Kingfisher

/// The body of `POST /purge`: exactly one of source, tag, prefix and all, and a mode.
struct PurgeRequest: Decodable {
    private let source: String?
    private let tag: String?
    private let prefix: String?
    private let all: Bool?
    private let mode: String?

    /// What is purged: the source of an image, or what the caches know without it.
    enum Subject {
        /// As bytes: names of files need not be UTF-8.
        case source([UInt8])
        case scope(PurgeScope)
    }

    static let usage =
        #"{"source": "https://…"}, {"tag": "…"}, {"prefix": "https://…"} or {"all": true}, each with "mode": "invalidate" "#
        + #"(served once more while it is made anew, unless said) or "delete"."#

    /// Reads a body; nil if it is not like ``usage``.
    static func read(_ body: Data) -> (subject: Subject, mode: PurgeMode)? {
        guard let request = try? JSONDecoder().decode(PurgeRequest.self, from: body) else { return nil }
        let mode: PurgeMode
        switch request.mode {
        case nil, "invalidate": mode = .invalidate
        case "delete": mode = .delete
        default: return nil
        }
        var subjects: [Subject] = []
        if let source = request.source, !source.isEmpty { subjects.append(.source(Array(source.utf8))) }
        if let tag = request.tag, !tag.isEmpty { subjects.append(.scope(.tag(tag))) }
        if let prefix = request.prefix, !prefix.isEmpty { subjects.append(.scope(.prefix(prefix))) }
        if request.all == true { subjects.append(.scope(.all)) }
        guard subjects.count == 1 else { return nil }
        return (subjects[0], mode)
    }
}
