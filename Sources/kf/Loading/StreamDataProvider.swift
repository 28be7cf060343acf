// A data provider for bytes that have no name to be cached under: standard input, pipes and devices, and files whose
// names are not UTF-8.

import Foundation
import KFSupport
import Kingfisher

/// Reads standard input, pipes, devices, and files whose names are not UTF-8, to their end, into memory.
struct StreamDataProvider: ImageDataProvider {
    let url: URL

    /// Nil for what a URL stands for, as for most regular files, and for what does not exist.
    init?(_ url: URL) {
        var status = stat()
        guard url != SourceArgument.standardInput else {
            self.url = url
            return
        }
        guard stat(url.path.systemName, &status) == 0, status.st_mode & S_IFMT != S_IFDIR,
            status.st_mode & S_IFMT != S_IFREG || url.path.isOutsideUTF8
        else { return nil }
        self.url = url
    }

    /// The key in the memory cache only: the next run may find other bytes under the same name.
    var cacheKey: String { "stream:\(url.path)" }

    var contentURL: URL? { url }

    /// All bytes, up to the size limit of a download.
    func data() async throws -> Data {
        let limit = ImageDownloader.default.maxResponseBytes
        let url = url
        return try await WorkExecutor.io.run { () async throws(StreamError) -> Data in
            guard url != SourceArgument.standardInput else { return try Self.read(STDIN_FILENO, limit: limit) }
            return try Self.read(path: url.path, limit: limit)
        }
    }

    /// Reads a file to its end, blocking the thread.
    static func read(path: String, limit: Int = .max) throws(StreamError) -> Data {
        let descriptor = open(path.systemName, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw StreamError(errno) }
        defer { close(descriptor) }
        return try read(descriptor, limit: limit)
    }

    /// Reads to the end, blocking the thread; more bytes than the limit are an error.
    static func read(_ descriptor: Int32, limit: Int = .max) throws(StreamError) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw StreamError(errno) }
            guard count > 0 else { return data }
            guard count <= limit - data.count else {
                throw StreamError(problem: "more than \(Units.bytes(limit)) came; --max-bytes allows more")
            }
            data += buffer[..<count]
        }
    }
}

/// The reason why a stream could not be read to its end.
struct StreamError: LocalizedError {
    let problem: String
    var errorDescription: String? { problem }
}

extension StreamError {
    fileprivate init(_ number: Int32) { self.init(problem: String(cString: strerror(number))) }
}
