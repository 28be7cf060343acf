// Makes answers of results and of errors. For the routes.

import Foundation
import HTTPTypes
import Hummingbird
import KFImageURLs
@_spi(Server) import Kingfisher
import NIOHTTP1

/// The answers of a configuration.
struct ImageAnswers: Sendable {
    let configuration: ServerConfiguration
    /// Whether answers say why they are errors.
    let showsReasons: Bool

    /// The answer with a result; without its bytes if the client has them.
    ///
    /// - Parameters:
    ///   - served: The result.
    ///   - plan: What it was made by.
    ///   - request: What it answers.
    ///   - known: What is known of the request, if it comes often.
    /// - Returns: The answer.
    func response(
        _ served: ServedImage,
        plan: ImagePlan,
        to request: HTTPRequest,
        known: HotRequests.Known? = nil
    ) -> Response {
        let image = served.image.image
        let status = status(of: served)
        let (tag, date) = (request.headerFields[.ifNoneMatch], request.headerFields[.ifModifiedSince])
        if status == .ok, validators(of: served).isUnmodified(ifNoneMatch: tag, ifModifiedSince: date) {
            return Response(status: .notModified, headers: cachingFields(of: served, plan))
        }
        var fields =
            if let known, isTimeless(image, plan) {
                known.fields(for: served.image.entityTag) { self.fields(of: served, plan) }
            } else {
                self.fields(of: served, plan)
            }
        if configuration.delivery.describesImages { fields.describe(served) }
        let body = request.method == .head ? ResponseBody() : Self.body(image.data)
        return Response(status: status, headers: fields, body: body)
    }

    /// The answer to an upload: a result that no cache keeps.
    func response(toUpload served: ServedImage, plan: ImagePlan) -> Response {
        let image = served.image.image
        var fields = contentFields(of: image, plan)
        fields.append(contentsOf: fieldsOfUploads)
        if configuration.delivery.describesImages { fields.describe(served) }
        return Response(status: .ok, headers: fields, body: Self.body(image.data))
    }

    /// The answer with what is known of an upload.
    func response(toUpload json: String) -> Response { .text(json, type: "application/json", fieldsOfUploads) }

    private var fieldsOfUploads: HTTPFields {
        var fields: HTTPFields = [.cacheControl: "no-store"]
        fields[.accessControlAllowOrigin] = configuration.delivery.allowedOrigin
        return fields
    }

    /// Whether an answer is the same tomorrow.
    private func isTimeless(_ image: EncodedImage, _ plan: ImagePlan) -> Bool {
        plan.delivery.expirationDate == nil && !configuration.delivery.passesCacheControl
            && image.cacheMetadata?.forbidsStoring(inShared: true) != true
    }

    /// The fields that an answer without the bytes has, too.
    private func cachingFields(of served: ServedImage, _ plan: ImagePlan) -> HTTPFields {
        let image = served.image.image
        let policy = CachePolicy(
            configuration.delivery,
            maxAge: maxAge(of: served),
            until: plan.delivery.expirationDate
        )
        var fields = image.isDamaged ? [.cacheControl: "no-store"] : policy.fields(for: image.cacheMetadata)
        let validators = validators(of: served)
        (fields[.eTag], fields[.lastModified]) = (validators.entityTag, validators.lastModified)
        if configuration.delivery.namesSource, served.error == nil { fields.nameSource(plan.sourceBytes) }
        fields[.accessControlAllowOrigin] = configuration.delivery.allowedOrigin
        let varying = [(configuration.output.negotiates, "Accept"), (configuration.sources.handsCookiesOn, "Cookie")]
        let names = varying.compactMap { $0 ? $1 : nil }
        if !names.isEmpty { fields[.vary] = names.joined(separator: ", ") }
        let tags = plan.delivery.cacheTags
        if !tags.isEmpty { fields.set(.cacheTag, tags.sorted().joined(separator: ",")) }
        return fields
    }

    private func fields(of served: ServedImage, _ plan: ImagePlan) -> HTTPFields {
        var fields = cachingFields(of: served, plan)
        fields.append(contentsOf: contentFields(of: served.image.image, plan))
        return fields
    }

    /// The fields about the bytes of an answer.
    private func contentFields(of image: EncodedImage, _ plan: ImagePlan) -> HTTPFields {
        var fields: HTTPFields = [:]
        fields[.contentType] = image.mimeType
        fields[.contentLength] = "\(image.data.count)"
        fields[.xContentTypeOptions] = "nosniff"
        // A browser shows what is an image, and nothing else.
        fields[.contentDisposition] = contentDisposition(
            of: plan,
            fileExtension: image.contentType.preferredFileExtension,
            isAttachment: plan.delivery.isAttachment || !image.mimeType.hasPrefix("image/")
        )
        fields[.contentSecurityPolicy] = harmlessContent
        return fields
    }

    /// The bytes; of large files a piece at a time, as clients take them.
    ///
    /// A request counts as answered when its last piece is handed over: what is not sent when the connection ends for
    /// having no request is lost.
    private static func body(_ data: Data) -> ResponseBody {
        let pieceSize = 64 << 10
        guard data.count > pieceSize else { return ResponseBody(byteBuffer: ByteBuffer(bytes: data)) }
        return ResponseBody(contentLength: data.count) { writer in
            for start in stride(from: data.startIndex, to: data.endIndex, by: pieceSize) {
                try await writer.write(ByteBuffer(bytes: data[start..<min(start + pieceSize, data.endIndex)]))
            }
            try await writer.finish(nil)
        }
    }

    /// What may be asked for, beside purges.
    var methodNames: String { configuration.takesUploads ? "GET, HEAD, OPTIONS, POST" : "GET, HEAD, OPTIONS" }

    /// The answer with these; browsers ask before scripts of other sites send fields of their own.
    var methods: Response {
        var fields: HTTPFields = [.allow: methodNames]
        if let origin = configuration.delivery.allowedOrigin {
            fields[.accessControlAllowOrigin] = origin
            fields[.accessControlAllowMethods] = methodNames
            fields[.accessControlAllowHeaders] = "*"
            fields[.accessControlMaxAge] = "86400"
        }
        return .text("", fields)
    }

    /// The answer with an error.
    func response(_ error: RenderingError) -> Response {
        let status = Self.status(error.status)
        let maxAge = configuration.delivery.notFoundMaxAge
        let isKept = maxAge > 0 && [404, 410].contains(error.status)
        var fields: HTTPFields = [.cacheControl: isKept ? "max-age=\(maxAge), public" : "no-store"]
        fields[.accessControlAllowOrigin] = configuration.delivery.allowedOrigin
        if let seconds = error.retryAfter { fields[.retryAfter] = "\(seconds)" }
        return .text(showsReasons ? error.reason : Self.words(for: status), status: status, fields)
    }

    private func maxAge(of served: ServedImage) -> Int {
        let delivery = configuration.delivery
        return served.error != nil && delivery.fallback.maxAge > 0 ? delivery.fallback.maxAge : delivery.maxAge
    }

    /// That of a fallback is configured.
    private func status(of served: ServedImage) -> HTTPResponse.Status {
        guard let error = served.error else { return .ok }
        let code = configuration.delivery.fallback.status
        return Self.status(code == 0 ? error.status : code)
    }

    private static func status(_ code: Int) -> HTTPResponse.Status {
        (200...599).contains(code) ? HTTPResponse.Status(code: code) : .internalServerError
    }

    private static func words(for status: HTTPResponse.Status) -> String {
        HTTPResponseStatus(statusCode: status.code).reasonPhrase
    }
}

/// What browsers let an answer do that is opened as a page, as a drawing may be: nothing but being shown.
private let harmlessContent = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

extension Response {
    /// An answer with a text.
    static func text(
        _ text: String,
        type: String = "text/plain; charset=utf-8",
        status: HTTPResponse.Status = .ok,
        _ fields: HTTPFields = [:]
    ) -> Response {
        var fields = fields
        fields[.contentType] = type
        fields[.xContentTypeOptions] = "nosniff"
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = harmlessContent }
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
