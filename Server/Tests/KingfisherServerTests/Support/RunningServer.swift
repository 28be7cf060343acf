// A server on a port of its own, and what a test asks it for. For the tests of the routes.

import Foundation
import Hummingbird
import HummingbirdCore
import KFImageURLs
import Kingfisher
import KingfisherServer
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import Testing

/// A server that runs as long as a test's body.
struct RunningServer: Sendable {
    let images: ImageServer
    let renderer: MadeUpRenderer
    let port: Int
    let log: LogLines
    /// Tells the server to end, as SIGTERM does.
    let end: @Sendable () async -> Void

    /// Runs a server with settings, and the body with it.
    ///
    /// Requests have an hour, what comes and goes of them minutes, however busy the machine is, unless the settings say
    /// otherwise.
    static func with(
        _ settings: [String: String] = [:],
        image: RenderedImage? = nil,
        isDeveloped: Bool = false,
        _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        var result = image
        if result == nil { result = try await madeUpImage() }
        let renderer = MadeUpRenderer(image: try #require(result))
        let patience = [
            "KF_TIMEOUT": "3600", "KF_READ_REQUEST_TIMEOUT": "300", "KF_WRITE_RESPONSE_TIMEOUT": "300",
        ]
        let (configuration, problems) = ServerConfiguration.read(patience.merging(settings) { $1 })
        #expect(problems.isEmpty)
        let log = LogLines()
        var logger = Logger(label: "test") { JSONLogHandler(label: $0, write: log.append) }
        logger.logLevel = .debug
        let images = ImageServer(
            configuration: configuration,
            renderer: renderer,
            logger: logger,
            isDeveloped: isDeveloped
        )
        try await serving(images.responder, images.http) { port, end in
            let server = RunningServer(images: images, renderer: renderer, port: port, log: log, end: end)
            defer { renderer.openGate() }
            try await body(server)
        }
    }

    /// Runs an application, and the body with its port and with what ends it.
    static func serving(
        _ responder: some HTTPResponder<ImageRequestContext>,
        _ http: HTTPServerBuilder,
        _ body: @Sendable (_ port: Int, _ end: @escaping @Sendable () async -> Void) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: responder,
            server: http,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), backlog: 4096),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "application") { _ in SwiftLogNoOpLogHandler() }
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: application.logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await port in ports.prefix(1) {
                try await body(port) { await group.triggerGracefulShutdown() }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// The answer to one request on a connection of its own.
    func get(
        _ path: String,
        _ fields: [String: String] = [:],
        method: String = "GET",
        body: String? = nil
    ) async throws -> Answer {
        let connection = try await RawConnection(port: port)
        defer { connection.leave() }
        try await connection.send(path, fields, method: method, body: body)
        return try await connection.answer(isHead: method == "HEAD")
    }
}

/// The lines that were written.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    func append(_ data: Data) { lines.withLock { $0.append(String(decoding: data, as: UTF8.self)) } }
    var all: [String] { lines.withLock { $0 } }
}

/// Returns once the condition holds; the time limit of the test ends it otherwise.
func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}
