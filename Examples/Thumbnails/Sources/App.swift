// The route as a program: http://127.0.0.1:8080/thumbnail?url=https://example.com/a.jpg
import Foundation
import Hummingbird
import Kingfisher
import KingfisherDecoder

@main
struct App {
    static func main() async throws {
        EmbeddedDecoder.start()  // The first line: locked processes of this program decode for it.
        let manager = limitedManager()
        let router = Router()
        router.get("thumbnail") { request, _ -> Response in
            guard let url = request.uri.queryParameters["url"].flatMap({ URL(string: String($0)) }) else {
                throw HTTPError(.badRequest)
            }
            guard PixelThreads.queueLength < 100 else { throw HTTPError(.tooManyRequests, headers: [.retryAfter: "1"]) }
            do {
                return try await thumbnail(of: url, by: manager, for: request)
            } catch let error as KingfisherError {
                throw HTTPError(HTTPResponse.Status(code: error.responseStatus))
            }
        }
        let port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) } ?? 8080
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await Application(router: router, configuration: configuration).runService()
    }
}
