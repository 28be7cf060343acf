// `kf-server serve`: serves until it is told to end. For those who run an image server.

import ArgumentParser
import CKFServer
import Dispatch
import Foundation
import Hummingbird
import KFImageURLs
@_spi(Server) import Kingfisher
import KingfisherServer
import Logging
import ServiceLifecycle
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serves until SIGTERM or SIGINT; requests in flight get their responses before it ends."
    )

    @OptionGroup var setup: SetupOptions

    func run() async throws {
        let (configuration, problems) = setup.read()
        complain(problems.map(\.line))
        if problems.contains(where: \.isError) { throw ExitCode(1) }
        kf_server_keep_memory(FreedMemory.most)
        if configuration.workerCount > 0 { PixelThreads.count = configuration.workerCount }
        try starting { () throws(InvalidConfiguration) in try configuration.isolateDecoders() }

        var logger = Logger(label: "kf-server") { label in
            switch configuration.logFormat {
            case .json: JSONLogHandler(label: label) as any LogHandler
            case .text: TextLogHandler()
            }
        }
        logger.logLevel = configuration.logLevel.level
        logger.info("kf-server \(versionOfLibrary())")
        let renderer = try starting { () throws(InvalidConfiguration) in
            try ImageRenderer(configuration: configuration, logger: logger)
        }
        let server = ImageServer(
            configuration: configuration,
            renderer: renderer,
            logger: logger,
            isDeveloped: setup.develop
        )
        let application = Application(
            responder: server.responder,
            server: server.http,
            configuration: configuration.application,
            // They end after the server, from the last to the first.
            services: [ImageCaches(), FreedMemory()],
            logger: logger
        )
        var services: [any Service] = [application]
        if let metrics = configuration.metricsApplication(server.metricsResponder, logger) { services.append(metrics) }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // Clients that read slowly do not hold the program up for longer.
        group.maximumGracefulShutdownDuration = .seconds(configuration.secondsToEnd)
        try await ServiceGroup(configuration: group).run()
    }
}

/// Waits until what was stored last is on disk, for five seconds at most.
private struct ImageCaches: Service {
    func run() async throws {
        try await gracefulShutdown()
        await ImageCache.allCachesWillTerminate(within: 5)
    }
}

/// Keeps memory that images have freed for the next ones, and gives what is free back to the system once a minute.
private struct FreedMemory: Service {
    /// 64 MiB.
    static let most: CInt = 64 << 20

    func run() async throws {
        // Ends by an error when it is cancelled.
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .seconds(60))
                DispatchQueue.global(qos: .utility).async { kf_server_return_memory() }
            }
        }
    }
}

extension ServerConfiguration {
    /// How many connections are accepted: as many as are configured, if descriptors are left for files and sources
    /// then.
    ///
    /// A system that refuses further descriptors would be asked for them again and again.
    private var connectionLimit: Int {
        let descriptors = Int(kf_server_raise_descriptor_limit())
        return max(1, min(maxClients > 0 ? maxClients : .max, descriptors - max(descriptors / 4, 64)))
    }

    /// What answers at the address of metrics; nil if they have none of their own.
    fileprivate func metricsApplication(
        _ responder: some HTTPResponder<BasicRequestContext>,
        _ logger: Logger
    ) -> (any Service)? {
        guard let address = metricsAddress else { return nil }
        return Application(
            responder: responder,
            configuration: ApplicationConfiguration(
                address: .hostname(address.host.isEmpty ? "0.0.0.0" : address.host, port: address.port),
                serverName: "kf-server"
            ),
            logger: logger
        )
    }

    fileprivate var application: ApplicationConfiguration {
        ApplicationConfiguration(
            address: .hostname(address.host.isEmpty ? "0.0.0.0" : address.host, port: address.port),
            serverName: "kf-server",
            // As many as the system allows by default: clients that come all at once are answered with 429, not
            // refused.
            backlog: 4096,
            availableConnectionsDelegate: .maximum(connectionLimit, logger: Logger(label: "connections"))
        )
    }
}

extension LogLevel {
    fileprivate var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }
}
