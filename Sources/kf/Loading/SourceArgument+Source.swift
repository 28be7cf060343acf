// The library's source for a source on the command line.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

extension SourceArgument {
    /// The library's source.
    var source: Source {
        switch location {
        case .network(let url): .network(url)
        case .file(let url):
            stream.map(Source.provider)
                ?? .provider(LocalFileImageDataProvider(fileURL: url, cacheKey: Self.key(of: url)))
        case .bytes: .provider(DataURLImageDataProvider(text: text))
        }
    }

    /// The provider of a source that can be read only once; nil for all others.
    var stream: StreamDataProvider? {
        guard case .file(let url) = location else { return nil }
        return StreamDataProvider(url)
    }

    /// A key that changes with the file, so that an edited image is not served from the cache.
    private static func key(of url: URL) -> String? {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return "\(url.absoluteString)?size=\(status.st_size)&modified=\(time)"
    }
}

extension SourceArgument {
    /// The names of a source in the library's messages: its URL, its path, its key.
    static func names(of text: String) -> [String] {
        guard let argument = try? SourceArgument(text) else { return [] }
        let key = argument.source.cacheKey
        return switch argument.location {
        case .network(let url): [text, url.absoluteString, key]
        case .file(let url): [url.path, url.absoluteString, key]
        case .bytes: [key]
        }
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
