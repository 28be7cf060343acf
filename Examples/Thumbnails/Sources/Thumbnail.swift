import Foundation
import Hummingbird
import Kingfisher

/// A response with a thumbnail of an image, in the best format that the client accepts.
func thumbnail(of url: URL, by manager: KingfisherManager, for request: Request) async throws -> Response {
    let processor = ThumbnailImageProcessor(size: CGSize(width: 300, height: 200), mode: .fill)
    let options: KingfisherOptionsInfo = [.processor(processor), .respectCacheControl]
    var encoding = ImageEncoding(quality: 0.8)
    encoding.preferredFormats = AcceptedFormats(request.headers[.accept]).preferred(of: [.avif, .webp])
    encoding.allowedFormats = [.jpeg, .png]
    let image = try await manager.retrieveEncoded(with: url, options: options, as: encoding)
    let life = image.isDamaged ? "no-store" : image.cacheMetadata?.remainingCacheControl() ?? "max-age=3600"
    var fields: HTTPFields = [.contentType: image.mimeType, .cacheControl: life, .vary: "Accept"]
    fields[.eTag] = image.validators.entityTag
    let isUnmodified = image.validators.isUnmodified(ifNoneMatch: request.headers[.ifNoneMatch])
    if isUnmodified { return Response(status: .notModified, headers: fields) }
    return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: image.data)))
}
