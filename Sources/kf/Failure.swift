// Why one picture failed, for people and for scripts. Knows nothing of how it was tried.

import Foundation
import KFImaging
import Kingfisher

/// What failed, as a number, a word and a sentence.
///
/// Numbers below 9000 are those of `KingfisherError`; the tool's own are listed here.
struct Failure: Error, Equatable {
    let code: Int
    let reason: String
    let message: String

    /// The argument names no picture.
    static func badSource(_ error: SourceArgumentError) -> Failure {
        Failure(code: 9001, reason: "badSource", message: Redaction.text(error.problem))
    }

    /// The output cannot be written.
    static func cannotWrite(_ path: String, _ errno: Int32) -> Failure {
        let why = String(cString: strerror(errno))
        return Failure(
            code: 9002,
            reason: "cannotWriteOutput",
            message: "cannot write \(path): \(why); name a place this user may write to"
        )
    }

    /// The picture cannot be encoded in the wanted format, but perhaps in others.
    static func cannotEncode(_ format: String, _ why: String, instead: [OutputFormat] = []) -> Failure {
        let names = instead.map(\.rawValue)
        let list = [names.dropLast().joined(separator: ", "), names.last ?? ""].filter { !$0.isEmpty }
        let advice = names.isEmpty ? "" : "; use --format \(list.joined(separator: " or "))"
        return Failure(code: 9003, reason: "cannotEncode", message: "cannot write \(format): \(why)\(advice)")
    }

    /// The bytes have no header that can be read.
    static func unreadable(_ error: ImagingError) -> Failure {
        Failure(code: 9004, reason: "unreadableHeader", message: "\(error)")
    }

    /// What the library reports.
    init(_ error: KingfisherError) {
        code = error.errorCode
        reason = Self.name(of: error)
        message = Self.oneLine((error.errorDescription ?? "superseded by another load") + Self.consequence(of: error))
    }

    init(code: Int, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = Self.oneLine(message)
    }

    /// The sentence with the number.
    var text: String { "\(message) (code \(code))" }

    /// As one member of a JSON line.
    var json: JSON { ["code": .int(code), "reason": .string(reason), "message": .string(message)] }

    /// The name of the reason's case, such as `invalidHTTPStatusCode`.
    private static func name(of error: KingfisherError) -> String {
        let reason: Any =
            switch error {
            case .requestError(let reason): reason
            case .responseError(let reason): reason
            case .cacheError(let reason): reason
            case .processorError(let reason): reason
            case .imageSettingError(let reason): reason
            }
        return Mirror(reflecting: reason).children.first?.label ?? "\(reason)"
    }

    /// What a status means that the library takes for a success, and that brings no picture all the same.
    private static func consequence(of error: KingfisherError) -> String {
        guard case .responseError(.invalidHTTPStatusCode(let response)) = error else { return "" }
        return switch response.statusCode {
        case 200..<300: ", so there is no picture"
        case 300..<400: ", but with no Location to go on to"
        default: ""
        }
    }

    /// One line, without the credentials of URLs.
    private static func oneLine(_ text: String) -> String {
        Redaction.text(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }
}
