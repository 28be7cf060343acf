// A program that ends well: it finishes what it has begun, and what it has stored is on disk.
import Foundation
import Kingfisher
import Logging
import ServiceLifecycle

/// Stands for your server: told to end, it begins nothing more, and returns when the requests in flight are done.
struct Server: Service {
    func run() async throws {
        for url in CommandLine.arguments.dropFirst().compactMap(URL.init) where !Task.isShuttingDownGracefully {
            let result = try await KingfisherManager.shared.retrieveImage(with: url)
            print(url, result.image.size, result.cacheType)
        }
        try await gracefulShutdown()
    }
}

/// Waits until what was stored last is on disk, for five seconds at most.
struct ImageCaches: Service {
    func run() async throws {
        try await gracefulShutdown()
        await ImageCache.allCachesWillTerminate(within: 5)
    }
}

// A group ends its services from the last to the first, each when the one behind it has returned. So the caches stand
// before the server: they end after its last requests, and wait for what these have stored.
let group = ServiceGroup(
    services: [ImageCaches(), Server()],
    gracefulShutdownSignals: [.sigterm, .sigint],
    logger: Logger(label: "server")
)
try await group.run()
