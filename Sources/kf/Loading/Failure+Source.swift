// The lines about a source that failed: one for people, and one for scripts.

import Foundation
import KFSupport
import Kingfisher

extension Failure {
    /// The line for scripts.
    func json(about source: String) -> JSON { ["source": .string(Redaction.source(source)), "error": json] }

    /// The line for people: the source that failed, named once, and the reason.
    func line(about source: String) -> String { naming(source).text }

    /// The failure with a sentence that begins with the source, and does not name it again.
    func naming(_ source: String) -> Failure {
        let names = Self.names(of: source).map { Self.oneLine(Redaction.source($0)) }.sorted {
            $0.count > $1.count
        }
        let sentence = names.reduce(message) { Self.withoutName($1, in: $0) }
        return Failure(code: code, reason: reason, message: "\(Units.source(source)): \(sentence)", imaging: imaging)
    }

    /// A sentence without its subject if that is the name, and with "the source" for the name elsewhere.
    private static func withoutName(_ name: String, in text: String) -> String {
        let isSubject = text.hasPrefix(name + " ")
        let parts = (isSubject ? String(text.dropFirst(name.count + 1)) : text).components(separatedBy: name)
        return parts.dropFirst().reduce(into: parts[0]) { result, part in
            let isAlone = " (".contains(result.last ?? " ") && " ,:;)".contains(part.first ?? " ")
            result += (isAlone ? "the source" : name) + part
        }
    }

    /// The names of a source in the library's messages: its URL, its path, its key.
    private static func names(of text: String) -> [String] {
        guard let argument = try? SourceArgument(text) else { return [] }
        let key = argument.source.cacheKey
        return switch argument.location {
        case .network(let url): [text, url.absoluteString, key]
        case .file(let url): [url.path, url.absoluteString, key]
        case .bytes: [key]
        }
    }
}
