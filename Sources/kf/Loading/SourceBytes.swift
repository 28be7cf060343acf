// Reads the bytes of a source, without cache and decoder; for all commands but `kf fetch` and `kf cache`.

import Foundation
import KFSupport
import Kingfisher

/// Reads the bytes of sources without decoding them.
struct SourceBytes: Sendable {
    let downloader: ImageDownloader
    let options: KingfisherOptionsInfo
    let limits: LimitArguments
    private let retryStrategy: DelayRetryStrategy?
    /// Smaller files are read: 64 MiB.
    private static let mappedByteCount = 1 << 26

    init(_ network: NetworkArguments, _ limits: LimitArguments) {
        limits.apply()
        self.limits = limits
        downloader = network.downloader()
        options = [.processor(NoDecoding())] + network.options
        retryStrategy = network.retryStrategy
    }

    /// The bytes that an argument names.
    func read(_ text: String) async throws(Failure) -> Data {
        let argument = try SourceArgument.reading(text)
        try limits.check(argument)
        switch argument.location {
        case .network(let url):
            do throws(KingfisherError) { return try await download(url) } catch { throw Failure(error) }
        case .file(let url): return try await Self.read(argument.stream ?? LocalFileImageDataProvider(fileURL: url))
        case .bytes(let data): return data
        }
    }

    /// The bytes of a file on this machine that has many of them, mapped; nil for all other sources.
    func map(_ text: String) throws(Failure) -> Data? {
        let argument = try SourceArgument.reading(text)
        try limits.check(argument)
        guard case .file(let url) = argument.location else { return nil }
        return Data(mapping: url.path.systemName, smallest: Self.mappedByteCount)
    }

    /// Downloads the bytes; the downloader by itself repeats nothing.
    private func download(_ url: URL) async throws(KingfisherError) -> Data {
        var retries = 0
        while true {
            do throws(KingfisherError) {
                return try await downloader.downloadImage(with: url, options: options).originalData
            } catch {
                let context = RetryContext(source: .network(url), error: error, retriedCount: retries)
                guard case .retry? = await retryStrategy?.decision(for: context) else { throw error }
                retries += 1
            }
        }
    }

    /// The bytes of a provider.
    static func read(_ provider: any ImageDataProvider) async throws(Failure) -> Data {
        do {
            return try await provider.data()
        } catch {
            throw Failure(.imageSettingError(reason: .dataProviderError(provider: provider, error: error)))
        }
    }
}

/// A processor that decodes nothing, for downloads of which only the bytes are used.
private struct NoDecoding: ImageProcessor {
    let identifier = "kf.no-decoding"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        KFCrossPlatformImage()
    }
}

extension Data {
    /// The bytes of a file, whose pages need not stay in memory; whoever cuts the file meanwhile ends this process.
    ///
    /// - Parameters:
    ///   - path: The path, as the system takes it.
    ///   - smallest: The fewest bytes that are mapped.
    fileprivate init?(mapping path: [CChar], smallest: Int) {
        // Opening a pipe would wait for who writes to it, or take its bytes.
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) >= smallest else {
            return nil
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard fstat(descriptor, &status) == 0, let count = Int(exactly: status.st_size), count > 0,
            let bytes = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), bytes != MAP_FAILED
        else { return nil }
        self.init(bytesNoCopy: bytes, count: count, deallocator: .custom { munmap($0, $1) })
    }
}
