// A gallery to upload images to: http://127.0.0.1:8080, with the files in the folder uploads.
import Foundation
import Hummingbird
import Kingfisher
import KingfisherDecoder

@main
struct App {
    static func main() async throws {
        EmbeddedDecoder.start()  // The first line: locked processes of this program decode for it.
        let environment = ProcessInfo.processInfo.environment
        let gallery = Gallery(folder: URL(filePath: environment["UPLOADS"] ?? "uploads", directoryHint: .isDirectory))
        let router = Router()
        router.add(middleware: FileMiddleware(gallery.folder.path, urlBasePath: "/files"))
        router.get("/") { _, _ in try await html(gallery.page()) }
        router.post("/") { request, _ in try await upload(request, to: gallery) }
        let port = environment["PORT"].flatMap { Int($0) } ?? 8080
        let configuration = ApplicationConfiguration(address: .hostname("127.0.0.1", port: port))
        try await Application(router: router, configuration: configuration).runService()
    }

    /// Stores an image that a form has sent, and shows the page again, or the reason why not.
    private static func upload(_ request: Request, to gallery: Gallery) async throws -> Response {
        guard var reader = MultipartReader(contentType: request.headers[.contentType] ?? "") else {
            throw HTTPError(.unsupportedMediaType)
        }
        for try await part in request.body {
            reader.read(part.readableBytesView)
            // The form's own bytes are few.
            guard reader.byteCount <= uploadOptions.maxBytes + 10_000 else { throw HTTPError(.contentTooLarge) }
        }
        guard let file = reader.file else { throw HTTPError(.badRequest) }
        do throws(UploadError) {
            try await gallery.store(file, named: reader.fileName)
            return Response(status: .seeOther, headers: [.location: "/"])
        } catch {
            return try html("<!DOCTYPE html><p>\(error.code)</p>", status: .init(code: error.responseStatus))
        }
    }

    private static func html(_ text: String, status: HTTPResponse.Status = .ok) throws -> Response {
        let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
