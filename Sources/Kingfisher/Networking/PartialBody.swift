// The beginning of a body whose download was interrupted. For Transfer; ByteLoader keeps it for the next try.

import Foundation
import KFTransport

/// The beginning of a body, with what the server needs to send the rest of the same one.
///
/// Only what cannot be mistaken is kept: the server takes ranges, names the whole length and a strong validator (a
/// strong `ETag`, or a `Last-Modified` a minute before its `Date`), and applies no content coding.
struct PartialBody: Sendable {
    let data: Data
    let validator: String
    let total: Int

    /// The bytes that an interrupted download leaves; nil where the next one has to start anew.
    init?(_ data: Data, of response: TransportResponse) {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap { ContentRange($0) }
        let takesRanges = response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() == "bytes"
        switch response.statusCode {
        case 200 where takesRanges: total = Int(response.expectedContentLength)
        case 206: total = range?.total ?? -1
        default: return nil
        }
        guard !response.isCoded, !data.isEmpty, data.count < total, let validator = response.strongValidator else {
            return nil
        }
        (self.data, self.validator) = (data, validator)
    }

    private init(data: Data, validator: String, total: Int) {
        (self.data, self.validator, self.total) = (data, validator, total)
    }

    /// The longer beginning that a further try has left; this one if nothing came.
    ///
    /// The validator stays: a server need not repeat it when it sends the rest.
    func continued(by data: Data) -> PartialBody {
        data.count > self.data.count ? PartialBody(data: data, validator: validator, total: total) : self
    }

    /// Whether the rest of a body may be asked for with a request.
    static func mayContinue(_ request: URLRequest) -> Bool {
        let fields = ["Range", "If-Range", "If-None-Match", "If-Modified-Since"]
        return (request.httpMethod ?? "GET") == "GET" && request.httpBody == nil
            && fields.allSatisfy { request.value(forHTTPHeaderField: $0) == nil }
    }

    /// The request for the rest.
    func rest(of request: URLRequest) -> URLRequest {
        var request = request
        request.setValue("bytes=\(data.count)-", forHTTPHeaderField: "Range")
        request.setValue(validator, forHTTPHeaderField: "If-Range")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }

    /// Whether a response brings exactly the rest.
    func isContinued(by response: TransportResponse) -> Bool {
        guard response.statusCode == 206,
            let range = response.value(forHTTPHeaderField: "Content-Range").flatMap({ ContentRange($0) })
        else { return false }
        return range.first == data.count && range.last == total - 1 && range.total == total && !response.isCoded
            && isValidator(of: response)
    }

    /// Whether a response is of the body that the beginning is of: a server may ignore `If-Range`.
    private func isValidator(of response: TransportResponse) -> Bool {
        let tag = response.value(forHTTPHeaderField: "ETag")
        if validator.hasPrefix("\"") { return tag == validator }
        let date = response.value(forHTTPHeaderField: "Last-Modified")
        return tag == nil && (date == nil || date == validator)
    }

    /// The value of a field `Content-Range`: "bytes 5-9/10".
    private struct ContentRange {
        let first: Int
        let last: Int
        let total: Int

        init?(_ field: String) {
            let parts = field.lowercased().split { " -/".contains($0) }
            guard parts.count == 4, parts[0] == "bytes", let first = Int(parts[1]), let last = Int(parts[2]),
                let total = Int(parts[3])
            else { return nil }
            (self.first, self.last, self.total) = (first, last, total)
        }
    }
}

extension TransportResponse {
    /// What says that two responses have the same bytes.
    fileprivate var strongValidator: String? {
        if let tag = value(forHTTPHeaderField: "ETag") { return tag.hasPrefix("\"") ? tag : nil }
        guard let modified = value(forHTTPHeaderField: "Last-Modified"), let time = HTTPDate.date(from: modified),
            let date = value(forHTTPHeaderField: "Date").flatMap({ HTTPDate.date(from: $0) })
        else { return nil }
        // A younger date may belong to two bodies that were written in one second.
        return date.timeIntervalSince(time) >= 60 ? modified : nil
    }
}
