// The answers to requests to purge. For the routes.

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
