// Requests to purge: what they ask for, and their answers. For the routes.

import Foundation
import HTTPTypes
import Hummingbird
import KFImageURLs
import Kingfisher

extension ImageRoutes {
    /// Purges what `POST /purge` asks for, or the source of the image that `PURGE` names; for those who know the token.
    func purge(_ request: Request) async -> Response {
        guard let token = configuration.fleet.purgeToken else {
            return .text("Nothing can be purged without KF_PURGE_TOKEN.", status: .notFound)
        }
        guard request.headers.hasToken(token) else {
            return .text("Purging needs the token.", status: .unauthorized, [.wwwAuthenticate: "Bearer"])
        }
        do throws(RenderingError) {
            let (subject, mode) = try await subject(of: request)
            switch subject {
            case .source(let source):
                var plan = ImagePlan()
                plan.sourceBytes = source
                try await renderer.purge(plan, mode)
            case .scope(let scope): try await renderer.purge(scope, mode)
            }
            return .text("purged\n")
        } catch {
            return .text(
                error.reason,
                status: HTTPResponse.Status(code: error.status),
                error.retryAfter.map { [.retryAfter: "\($0)"] } ?? [:]
            )
        }
    }

    private func subject(of request: Request) async throws(RenderingError) -> (PurgeRequest.Subject, PurgeMode) {
        guard request.method == .post else {
            return (.source(try parse(request.head.path ?? "").plan.sourceBytes), .delete)
        }
        guard let body = try? await request.body.collect(upTo: 64 << 10),
            let read = PurgeRequest.read(Data(body.readableBytesView))
        else {
            let reason = "The body must be JSON like \(PurgeRequest.usage)"
            throw RenderingError(status: 400, kind: "bad_purge", reason: reason)
        }
        return read
    }
}

extension HTTPRequest.Method {
    /// Removes what caches have of a URL; known from Varnish and Squid.
    static let purge = HTTPRequest.Method("PURGE") ?? .delete
}

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
