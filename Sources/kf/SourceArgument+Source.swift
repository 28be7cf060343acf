// From sources on the command line to the library's sources. Knows nothing of caches.

import Foundation
import Kingfisher

extension SourceArgument {
    /// The source as the library knows it.
    var source: Source {
        switch place {
        case .network(let url): .network(url)
        case .file(let url): .provider(LocalFileImageDataProvider(fileURL: url, cacheKey: Self.key(of: url)))
        case .bytes(let data): .provider(RawImageDataProvider(data: data, cacheKey: text))
        }
    }

    /// A key that changes with the file, so that an edited picture is not answered from the cache.
    private static func key(of url: URL) -> String? {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return nil }
        let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return "\(url.absoluteString)?size=\(status.st_size)&modified=\(time)"
    }
}
