// The library's source for a source on the command line.

import Foundation
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
