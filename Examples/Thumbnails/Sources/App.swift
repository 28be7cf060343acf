// A route of Hummingbird: http://127.0.0.1:8080/thumbnail?url=https://example.com/a.jpg, as the client accepts it.
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
            let processor = ThumbnailImageProcessor(size: CGSize(width: 300, height: 200), mode: .fill)
            let options: KingfisherOptionsInfo = [.processor(processor), .respectCacheControl]
            var encoding = ImageEncoding(quality: 0.8)
            encoding.preferredFormats = AcceptedFormats(request.headers[.accept]).preferred(of: [.avif, .webp])
            encoding.allowedFormats = [.jpeg, .png]
            do throws(KingfisherError) {
                let image = try await manager.retrieveEncoded(with: url, options: options, as: encoding)
                let life = image.cacheMetadata?.remainingCacheControl() ?? "max-age=3600"
                var fields: HTTPFields = [.cacheControl: image.isDamaged ? "no-store" : life, .vary: "Accept"]
                fields[.eTag] = image.validators.entityTag
                if image.validators.isUnmodified(ifNoneMatch: request.headers[.ifNoneMatch]) {
                    return Response(status: .notModified, headers: fields)
                }
                fields[.contentType] = image.mimeType
                let body = ResponseBody(byteBuffer: ByteBuffer(bytes: image.data))
                return Response(status: .ok, headers: fields, body: body)
            } catch {
                throw HTTPError(HTTPResponse.Status(code: error.responseStatus))
            }
        }
        let port = ProcessInfo.processInfo.environment["PORT"].flatMap { Int($0) } ?? 8080
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await Application(router: router, configuration: configuration).runService()
    }
}
