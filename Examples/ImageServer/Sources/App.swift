// A web application with images among its own routes: `KF_LOCAL_FILESYSTEM_ROOT=photos ImageServer`, and then
// http://127.0.0.1:8080/_/rs:fit:300:300/plain/local:///a.jpg
import Foundation
import Hummingbird
import KingfisherDecoder
import KingfisherServer
import Logging

@main
struct App {
    static func main() async throws {
        // Sources are decoded by processes of this program that can do nothing else.
        EmbeddedDecoder.start()
        let environment = ProcessInfo.processInfo.environment
        let logger = Logger(label: "images")
        // On loopback, everybody may have everything made; elsewhere set KF_KEY and KF_SALT.
        let images = try ImageServer(environment: environment, allowsUnsigned: true, logger: logger)
        let router = Router(context: ImageRequestContext.self)
        router.get("hello") { _, _ in "hello" }
        images.addRoutes(to: router)
        let port = environment["PORT"].flatMap { Int($0) } ?? 8080
        let application = Application(
            router: router,
            server: images.http,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            logger: logger
        )
        try await application.runService()
    }
}
