// Requests whose body is an image: how they are read, and what they are answered with. For the routes.

import Foundation
import HTTPTypes
import Hummingbird
import KFImageURLs
import Kingfisher
import NIOCore
import NIOHTTPTypes

extension ImageRoutes {
    /// Answers `POST /SIGNATURE/OPTIONS` with the image that the options make of the body, and `POST /SIGNATURE/info`
    /// with what is known of it.
    func upload(_ request: Request, on connection: any Channel) async -> Response {
        var record = RequestRecord(identifier: requestIdentifier(of: request.head))
        var response: Response
        do throws(RenderingError) {
            try checkSecret(of: request.head)
            let parsed = try parseUpload(request.head.path ?? "")
            (record.source, record.warnings) = (RequestRecord.upload, parsed.warnings)
            response = try await answer(to: request, parsed, on: connection, &record)
        } catch {
            let error = error.ofUpload
            record.error = error
            response = answers.response(error)
        }
        response.headers.set(.requestIdentifier, record.identifier)
        record.status = response.status.code
        record.write(to: logger, metrics)
        return response
    }

    private func parseUpload(_ path: String) throws(RenderingError) -> ParsedUpload {
        do throws(RequestError) { return try parser.parseUpload(path) } catch { throw RenderingError(error) }
    }

    private func answer(
        to request: Request,
        _ parsed: ParsedUpload,
        on connection: any Channel,
        _ record: inout RequestRecord
    ) async throws(RenderingError) -> Response {
        var rendering = negotiated(parsed.plan, accept: accept(of: request.head), configuration)
        var upload = UploadedFile()
        rendering.upload = upload
        let limits = try limits(of: request, parsed.plan)
        guard let share = uploadMemory.share(of: limits.reserved), let slot = slots.take(rendering, holding: share)
        else { throw .tooManyRequests }
        defer { slot.endRequest() }
        upload.data = try await body(of: request, upTo: limits.allowed, on: connection)
        rendering.upload = upload
        let deadline = NIODeadline.now() + .seconds(Int64(configuration.timeout))
        guard !parsed.wantsFacts else {
            let facts = try await making(until: deadline, on: connection) {
                [renderer, upload] _ async throws(RenderingError) -> UploadFacts in
                try await renderer.facts(of: upload, in: slot)
            }
            let json = try facts.json
            (record.origin, record.isDamaged, record.byteCount) = (.made, facts.isDamaged, json.utf8.count)
            return answers.response(toUpload: json)
        }
        let image = try await made(by: rendering, in: slot, until: deadline, on: connection)
        if let warning = image.warning { record.warnings.append(warning) }
        (record.origin, record.isDamaged, record.byteCount) = (.made, image.image.isDamaged, image.image.data.count)
        return answers.response(toUpload: ServedImage(image: image, origin: .made), plan: parsed.plan)
    }

    /// How many bytes an upload may have, and how many are set aside for it: its length, if that is told.
    private func limits(
        of request: Request,
        _ plan: ImagePlan
    ) throws(RenderingError) -> (allowed: Int, reserved: Int) {
        let check = SourceCheck(configuration.sources, plan)
        let allowed = check.maxBytes ?? .max
        guard let length = request.length else { return (allowed, allowed) }
        try check.byteCount(length)
        return (allowed, length)
    }

    /// All bytes of an upload.
    ///
    /// A client that asks first whether they are wanted is told so.
    private func body(
        of request: Request,
        upTo limit: Int,
        on connection: any Channel
    ) async throws(RenderingError) -> Data {
        if request.headers[.expect]?.lowercased() == "100-continue" {
            connection.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue)), promise: nil)
        }
        // What a client says of the length may be a lie.
        var data = Data(capacity: min(request.length ?? 0, 1 << 20))
        var isTooLong = false
        do {
            for try await piece in request.body {
                isTooLong = piece.readableBytes > limit - data.count
                if isTooLong { break }
                data.append(contentsOf: piece.readableBytesView)
            }
        } catch {
            throw .clientLeft
        }
        if isTooLong { throw .tooLarge("The upload has more than \(limit) bytes, which is the limit.") }
        // Of a connection that has ended, the body seems to have ended, too.
        guard connection.isActive, data.count >= request.length ?? 0 else { throw .clientLeft }
        return data
    }
}

extension Request {
    /// The length of the body; nil where it is not told.
    fileprivate var length: Int? { headers[.contentLength].flatMap { Int($0) } }
}

extension UploadFacts {
    /// The facts as JSON, in the order of the keys.
    fileprivate var json: String {
        get throws(RenderingError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return String(decoding: try encoder.encode(self), as: UTF8.self)
            } catch {
                throw RenderingError(status: 500, kind: "internal", reason: "The facts cannot be written as JSON.")
            }
        }
    }
}
