// From sources on the command line to the library's sources. Knows nothing of caches.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

extension SourceArgument {
    /// The source as the library knows it.
    var source: Source {
        switch location {
        case .network(let url): .network(url)
        case .file(let url):
            stream.map(Source.provider)
                ?? .provider(LocalFileImageDataProvider(fileURL: url, cacheKey: Self.key(of: url)))
        case .bytes(let data): .provider(RawImageDataProvider(data: data, cacheKey: text))
        }
    }

    /// Reads what can be read only once; nil for anything else.
    var stream: StreamDataProvider? {
        guard case .file(let url) = location else { return nil }
        return StreamDataProvider(url)
    }

    /// A key that changes with the file, so that an edited picture is not served from the cache.
    private static func key(of url: URL) -> String? {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return "\(url.absoluteString)?size=\(status.st_size)&modified=\(time)"
    }
}

extension SourceArgument {
    /// What the library calls a source when it speaks of it: its URL, its path, its key.
    static func names(of text: String) -> [String] {
        guard let argument = try? SourceArgument(text) else { return [] }
        let key = argument.source.cacheKey
        return switch argument.location {
        case .network(let url): [text, url.absoluteString, key]
        case .file(let url): [url.path, url.absoluteString, key]
        case .bytes: [key]
        }
    }

    /// Refuses what names no picture, where nothing else is left to be done.
    static func check(_ text: String) throws {
        do throws(SourceArgumentError) {
            _ = try SourceArgument(text)
        } catch {
            throw ValidationError("\(Units.source(text)): \(Redaction.text(error.problem))")
        }
    }
}
