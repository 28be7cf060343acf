// The server of images, for applications that are built with Hummingbird: somebody's own, or the program.

public import Hummingbird
public import HummingbirdCore
package import KFImageURLs
public import Logging
public import NIOCore

/// Responds to requests for images whose URLs say what is done to them.
///
/// A server may be shared by threads. In an application of one's own, the context of requests is
/// ``ImageRequestContext`` or one like it, and the connections come from ``http``:
///
///     let images = try ImageServer(environment: ProcessInfo.processInfo.environment, logger: logger)
///     let router = Router(context: ImageRequestContext.self)
///     router.get("hello") { _, _ in "hello" }
///     images.addRoutes(to: router)
///     let application = Application(router: router, server: images.http)
public struct ImageServer: Sendable {
    package let routes: ImageRoutes

    /// A server that is set up by variables of the environment; `docs/server-options.md` lists them.
    ///
    /// `KF_BIND`, `KF_WORKERS`, `KF_MAX_CLIENTS`, `KF_GRACEFUL_STOP_TIMEOUT` and `KF_LOG_FORMAT` are for the program,
    /// and do nothing here; with `KF_PROMETHEUS_BIND` metrics are nowhere.
    ///
    /// Sources are decoded in locked processes, unless `KF_ISOLATION` says otherwise: the program `kf-decoder` has to
    /// be beside the application, or the application begins with `EmbeddedDecoder.start()`. That and the limits of time
    /// and memory hold for everything that the process decodes from now on (`ImageDecodingLimits.default`).
    ///
    /// - Parameters:
    ///   - environment: The variables; those that begin with neither `KF_` nor `IMGPROXY_` are ignored.
    ///   - allowsUnsigned: Whether everybody may have anything made where no key is set.
    ///   - logger: Gets a line for each request whose response is not from the caches.
    /// - Throws: ``InvalidConfiguration`` if a variable is wrong, the key is missing, or no process can be locked.
    public init(
        environment: [String: String],
        allowsUnsigned: Bool = false,
        logger: Logger
    ) throws(InvalidConfiguration) {
        let (configuration, problems) = KFImageURLs.ServerConfiguration.read(environment)
        var complaints = problems.filter(\.isError).map { "\($0.name): \($0.text)" }
        if complaints.isEmpty, !configuration.asksForKey, !allowsUnsigned {
            complaints = ["KF_KEY: Without a key and a salt anybody can have anything made; see allowsUnsigned."]
        }
        guard complaints.isEmpty else { throw InvalidConfiguration(complaints: complaints) }
        try configuration.isolateDecoders()
        let renderer = try ImageRenderer(configuration: configuration, logger: logger)
        self.init(configuration: configuration, renderer: renderer, logger: logger)
    }

    /// A server with a renderer.
    ///
    /// - Parameters:
    ///   - configuration: All settings.
    ///   - renderer: Makes the results; that of a test makes them up.
    ///   - logger: Gets a line for each request whose response is not from the caches.
    ///   - isDeveloped: Whether errors say why, and `/` has a page to try options.
    package init(
        configuration: KFImageURLs.ServerConfiguration,
        renderer: any Rendering,
        logger: Logger,
        isDeveloped: Bool = false
    ) {
        routes = ImageRoutes(
            configuration: configuration,
            renderer: renderer,
            logger: logger,
            isDeveloped: isDeveloped
        )
    }

    /// Responds to GET, HEAD and OPTIONS for all paths that no other route of the router is for, `/health` and
    /// `/metrics` among them; `POST /purge` and PURGE, where `KF_PURGE_TOKEN` is set; and POST for all other paths with
    /// `KF_UPLOADS`.
    ///
    /// `KF_PATH_PREFIX` is what the paths of images begin with. The router must not belong to a group with a path.
    ///
    /// - Parameter router: The router of the application.
    public func addRoutes<Context: ConnectionRequestContext>(to router: some RouterMethods<Context>) {
        let responder = ImageResponder<Context>(routes: routes)
        let uploads: [HTTPRequest.Method] = routes.configuration.takesUploads ? [.post] : []
        for method in [HTTPRequest.Method.get, .head, .options, .purge] + uploads {
            router.on("**", method: method, responder: responder)
        }
        router.on("purge", method: .post, responder: responder)
        let prefix = routes.configuration.urls.prefix
        if !prefix.isEmpty { router.on(RouterPath(prefix + "/purge"), method: .post, responder: responder) }
    }

    /// What responds to all requests of an application that serves nothing else.
    public var responder: some HTTPResponder<ImageRequestContext> { ImageResponder(routes: routes) }

    /// What responds to all requests where metrics have an address of their own, `KF_PROMETHEUS_BIND`.
    package var metricsResponder: some HTTPResponder<BasicRequestContext> {
        CallbackResponder { [routes] request, _ in routes.respondWithMetrics(to: request) }
    }

    /// Connections that tell when their clients leave, so that nothing is rendered for these; that are closed when
    /// their clients take nothing of their responses any more, or send requests without an end; and that end when their
    /// responses have arrived, once the application is told to end.
    ///
    /// With other ones everything works but that.
    public var http: HTTPServerBuilder {
        let (clients, metrics, configuration) = (routes.clients, routes.metrics, routes.configuration)
        let keepsConnections = configuration.keepAliveTimeout > 0
        let connections = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                LeavingHandler(clients: clients),
                StallHandler(timeout: .seconds(Int64(configuration.writeTimeout)), metrics: metrics),
                RequestTimer(timeout: .seconds(Int64(configuration.readTimeout)), metrics: metrics),
                // What those before it close is closed at once.
                EndingHandler(),
            ],
            // Without a second request, it is the first that has to come in time.
            idleTimeout: .seconds(Int64(keepsConnections ? configuration.keepAliveTimeout : configuration.readTimeout))
        )
        return HTTPServerBuilder { responder in
            ImageChannel(
                base: HTTP1Channel(responder: responder, configuration: connections),
                keepsConnections: keepsConnections
            )
        }
    }
}

/// Hummingbird's connections, with a handler where it has no place for one.
private struct ImageChannel: HTTPChannelHandler {
    let base: HTTP1Channel
    let keepsConnections: Bool

    var responder: Responder { base.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).assumeIsolated().flatMapThrowing { [keepsConnections] value in
            try PersistenceHandler(keepsConnections: keepsConnections)
                .add(to: channel.pipeline.syncOperations)
            return value
        }.nonisolated()
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// The context of requests, with the connection that each came on.
public protocol ConnectionRequestContext: RequestContext {
    /// The connection.
    var connection: any Channel { get }
}

/// The context of requests where an application needs no more than that.
public struct ImageRequestContext: ConnectionRequestContext {
    /// What Hummingbird keeps.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let connection: any Channel

    /// A context.
    ///
    /// - Parameter source: What Hummingbird knows of the request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        connection = source.channel
    }
}

/// The routes as an application calls them.
struct ImageResponder<Context: ConnectionRequestContext>: HTTPResponder {
    let routes: ImageRoutes

    func respond(to request: Request, context: Context) async throws -> Response {
        await routes.respond(to: request, on: context.connection)
    }
}
