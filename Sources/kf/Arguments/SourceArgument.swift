// The meaning of a SOURCE on the command line: a URL, a path, data or standard input.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

/// A source as named on the command line.
struct SourceArgument: Equatable {
    /// The place of the bytes.
    enum Location: Equatable {
        case network(URL)
        case file(URL)
        case bytes(Data)
    }

    /// The URL of standard input.
    static let standardInput = URL(fileURLWithPath: "/dev/stdin")

    /// The argument as it was typed.
    let text: String
    let location: Location

    /// Reads an http(s) URL, a `file:` URL, a `data:` URL, a path, or `-` for standard input.
    init(_ text: String) throws(SourceArgumentError) {
        self.text = text
        location = try Self.location(of: text)
    }

    /// The path of a file; nil for all other sources.
    var path: String? {
        guard case .file(let url) = location else { return nil }
        return url.path
    }

    /// The path of a file as it was typed; nil for all other sources.
    var typedPath: String? {
        guard case .file(let url) = location, url != Self.standardInput else { return nil }
        return Self.scheme(of: text) == "file" ? url.path : text
    }

    /// The source's own name without extension; a file's name keeps every byte.
    ///
    /// It is never empty and has no separator.
    ///
    /// - Parameter limit: The most bytes of the name, which is cut there.
    /// - Returns: The name.
    func baseName(longest limit: Int) -> String {
        let last =
            switch location {
            case .network(let url): url.lastPathComponent == "/" ? url.host ?? "" : url.lastPathComponent
            case .file(let url): url.path == "/" ? "" : url.lastPathComponent
            case .bytes: "data"
            }
        let scalars = last.unicodeScalars
        let point = scalars.lastIndex(of: ".") ?? scalars.endIndex
        let stem = point == scalars.startIndex ? last : String(scalars[..<point])
        let name = stem.asFileName(isFromServer: path == nil).beginning(bytes: limit)
        return [".", "..", ""].contains(name) ? "image" : name
    }

    private static func location(of text: String) throws(SourceArgumentError) -> Location {
        guard text != "-" else { return .file(Self.standardInput) }
        guard !text.isEmpty else { throw SourceArgumentError(text: text, problem: "the source is empty") }
        switch scheme(of: text) {
        case "http", "https":
            guard let url = URL(escaping: text.utf8), url.host?.isEmpty == false else {
                throw SourceArgumentError(text: text, problem: "this is not a URL with a host")
            }
            return .network(url)
        case "file":
            // Names of files need not be UTF-8.
            guard let url = URL(escaping: text.utf8), url.host == nil || url.host == "" || url.host == "localhost",
                case let path = percentDecoded(Array(url.path(percentEncoded: true).utf8)[...]), !path.isEmpty,
                !path.contains(0)
            else {
                throw SourceArgumentError(text: text, problem: "a file URL needs a path on this machine: file:///…")
            }
            return .file(URL(fileURLWithPath: String(systemName: path)))
        case "data":
            return .bytes(try bytes(ofDataURL: text))
        case let scheme? where text.dropFirst(scheme.count).hasPrefix("://"):
            throw SourceArgumentError(
                text: text,
                problem: "\"\(scheme)\" is not supported; use http, https, file, data or a path"
            )
        default:
            return .file(URL(fileURLWithPath: text))
        }
    }

    private static func bytes(ofDataURL text: String) throws(SourceArgumentError) -> Data {
        do throws(DataURLImageDataProvider.DataURLError) {
            return try DataURLImageDataProvider(text: text).bytes()
        } catch {
            throw SourceArgumentError(text: text, problem: "\(error)")
        }
    }

    /// The letters before the first colon, when they can be a scheme.
    private static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else { return nil }
        return scheme.lowercased()
    }
}

extension SourceArgument {
    /// Reads a source, for commands that report each failure and go on.
    static func reading(_ text: String) throws(Failure) -> SourceArgument {
        do throws(SourceArgumentError) {
            return try SourceArgument(text)
        } catch {
            throw .badSource(error.problem)
        }
    }

    /// The files among sources.
    static func files(_ texts: [String]) -> InputFiles {
        InputFiles(texts.compactMap { (try? SourceArgument($0))?.path })
    }

    /// Throws a usage error for a text that is no source, for commands with a single source.
    static func check(_ text: String) throws {
        do throws(SourceArgumentError) {
            _ = try SourceArgument(text)
        } catch {
            throw ValidationError("\(Units.source(text)): \(Redaction.text(error.problem))")
        }
    }
}

/// The reason why a text names no source.
struct SourceArgumentError: Error, Equatable, CustomStringConvertible {
    let text: String
    let problem: String

    var description: String { problem }
}
