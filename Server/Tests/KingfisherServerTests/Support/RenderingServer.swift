// A server with the real renderer, on a port of its own. For the tests of the server as a whole.

import Foundation
import Hummingbird
import KFImageURLs
import Kingfisher
import KingfisherServer
import KingfisherTestSupport
import Logging
import NIOCore

/// A server that makes images.
struct RenderingServer: Sendable {
    /// Images in the folder of sources; an image of four colours unless said otherwise, 200 pixels wide and 100 high.
    enum Sources {
        static let names = ["a.png", "b.jpg", "c.gif", "d.webp"]
        static var urls: [String] { names.map { "local:///\($0)" } }
    }

    let port: Int
    /// The renderer, and what it works with.
    let rig: RenderingRig

    /// Runs a server that is set up like a rig, and the body with it.
    ///
    /// - Parameters:
    ///   - pages: Pages of HTML beside the server's own, by their paths.
    ///   - configure: Changes the configuration of the rig.
    ///   - body: Is given the server.
    /// - Throws: What the body throws.
    static func run(
        pages: [String: String] = [:],
        _ configure: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @Sendable (RenderingServer) async throws -> Void
    ) async throws {
        try await RenderingRig.run(configure) { rig in
            try await writeSources(to: rig.directory.appendingPathComponent("files"))
            let images = ImageServer(
                configuration: rig.configuration,
                renderer: rig.renderer,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                isDeveloped: true
            )
            let responder = ResponderWithPages(pages: pages, others: images.responder)
            try await RunningServer.serving(responder, images.http) { port, _ in
                try await body(RenderingServer(port: port, rig: rig))
            }
        }
    }

    private static func writeSources(to folder: URL) async throws {
        let image = Quadrants.image()
        let files = [
            "a.png": try await image.kf.encoded(as: ImageEncoding(.png)).data,
            "b.jpg": try Quadrants.jpeg(),
            "c.gif": try await Quadrants.animation(),
            "d.webp": try await image.kf.encoded(as: ImageEncoding(.webp)).data,
        ]
        for (name, data) in files { try data.write(to: folder.appendingPathComponent(name)) }
    }

    /// The answer to one request on a connection of its own.
    func get(_ path: String, _ fields: [String: String] = [:], method: String = "GET") async throws -> Answer {
        let connection = try await RawConnection(port: port)
        defer { connection.leave() }
        try await connection.send(path, fields, method: method)
        return try await connection.answer()
    }
}

/// Pages of HTML, and a responder for all other paths.
///
/// `/wait` is answered once `/done` was asked for: a page with an image from there is not loaded before.
private struct ResponderWithPages<Others: HTTPResponder<ImageRequestContext>>: HTTPResponder {
    let pages: [String: String]
    let others: Others
    private let isDone = Gate()

    init(pages: [String: String], others: Others) { (self.pages, self.others) = (pages, others) }

    func respond(to request: Request, context: ImageRequestContext) async throws -> Response {
        if request.uri.path == "/done" { isDone.open() }
        if request.uri.path == "/wait" { await isDone.wait() }
        if ["/done", "/wait"].contains(request.uri.path) { return Response(status: .noContent) }
        guard let html = pages[request.uri.path] else { return try await others.respond(to: request, context: context) }
        return Response(status: .ok, headers: [.contentType: "text/html"], body: .init(byteBuffer: .init(string: html)))
    }
}
