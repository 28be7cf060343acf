// The bytes of a scripted response: the part that is sent for a request, compression, the head.

internal import CKFZlib
package import Foundation

extension TestResponse {
    /// The response that is sent for `request`: a 304, a part, or all of it.
    func negotiated(for request: TestRequest) -> TestResponse {
        guard framing != .raw else { return self }
        return selected(for: request).compressed(for: request)
    }

    private func selected(for request: TestRequest) -> TestResponse {
        var response = self
        if let etag { response.headers["ETag"] = etag }
        if let etag, let wanted = request.header("If-None-Match"), wanted == "*" || wanted.contains(etag) {
            response.status = 304
            response.body = Data()
            return response
        }
        guard acceptsRanges, status == 200 else { return response }
        response.headers["Accept-Ranges"] = "bytes"
        guard let field = request.header("Range"), isCurrent(request.header("If-Range")) else { return response }
        guard let range = Self.range(field, of: body.count) else {
            response.status = 416
            response.headers["Content-Range"] = "bytes */\(body.count)"
            response.body = Data()
            return response
        }
        response.status = 206
        response.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"
        response.body = Data(body.dropFirst(range.lowerBound).prefix(range.count))
        return response
    }

    private func isCurrent(_ validator: String?) -> Bool { validator == nil || validator == etag }

    /// The range of `bytes=a-b`, `bytes=a-` or `bytes=-n`; `nil` for a range that cannot be satisfied.
    private static func range(_ field: String, of count: Int) -> Range<Int>? {
        guard field.hasPrefix("bytes=") else { return nil }
        let bounds = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return nil }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (let first?, let last?) where first <= last && first < count: return first..<min(last + 1, count)
        case (let first?, nil) where bounds[1].isEmpty && first < count: return first..<count
        case (nil, let length?) where bounds[0].isEmpty && length > 0 && count > 0:
            return max(count - length, 0)..<count
        default: return nil
        }
    }

    private func compressed(for request: TestRequest) -> TestResponse {
        guard compresses, !body.isEmpty else { return self }
        let field = request.header("Accept-Encoding")?.lowercased() ?? ""
        let isGzip = field.contains("gzip")
        guard isGzip || field.contains("deflate") else { return self }
        var response = self
        response.headers["Content-Encoding"] = isGzip ? "gzip" : "deflate"
        response.body = body.deflated(asGzip: isGzip)
        return response
    }
}

extension Data {
    /// The bytes as gzip, or in zlib's format, which HTTP calls deflate.
    package func deflated(asGzip: Bool) -> Data {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        // 16 more than the size of the window, as a power of two, stands for gzip.
        let window = MAX_WBITS + (asGzip ? 16 : 0)
        guard deflateInit2_(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK else {
            return self
        }
        defer { deflateEnd(&stream) }
        // In one go: the bound is the bound of the bytes that follow.
        var input = [UInt8](self)
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(deflateBound(&stream, UInt(count)))) { room, length in
            input.withUnsafeMutableBufferPointer { input in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (room.baseAddress, UInt32(room.count))
                deflate(&stream, Z_FINISH)
            }
            length = Int(stream.total_out)
        }
        return Data(bytes)
    }
}

// MARK: - Head

extension TestResponse {
    /// Whether a body follows the head in response to `method`.
    func hasBody(for method: String) -> Bool {
        framing == .raw || (method != "HEAD" && status != 304 && status != 204)
    }

    private func value(of name: String) -> String? { headers.first { $0.key.lowercased() == name }?.value }

    /// Whether the connection serves further requests after this response.
    var keepsConnection: Bool {
        if case .endless = interruption { return false }
        if framing != .raw, hasBody(for: "GET"), let length = value(of: "content-length").flatMap({ Int($0) }),
            length > body.count
        {
            return false
        }
        return framing != .untilClose && value(of: "connection")?.lowercased() != "close"
    }

    /// The status line and the header fields; nothing of a raw response.
    func head(isKeptAlive: Bool) -> [UInt8] {
        guard framing != .raw else { return [] }
        var head = "HTTP/1.\(framing == .untilClose ? 0 : 1) \(status) \(Self.reasons[status] ?? "Status")\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if framing == .chunked, status != 304, status != 204 { head += "Transfer-Encoding: chunked\r\n" }
        if announcesLength { head += "Content-Length: \(body.count)\r\n" }
        if !isKeptAlive, value(of: "connection") == nil { head += "Connection: close\r\n" }
        head += "\r\n"
        return Array(head.utf8)
    }

    private var announcesLength: Bool {
        if case .endless = interruption { return false }
        return framing == .contentLength && status != 304 && status != 204 && value(of: "content-length") == nil
    }

    private static let reasons = [
        200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
        304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request",
        401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 416: "Range Not Satisfiable",
        429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable",
    ]
}
