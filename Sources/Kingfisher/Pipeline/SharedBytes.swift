// Bytes of sources: those that no downloader brings, and all of which no image is made. For loads, prefetches and live
// photos.

import Foundation
import KFSupport
import KFTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is loaded, and by which loader; nil for a provider.
struct ByteSource: Hashable, Sendable {
    let source: Source
    var loader: ImageLoaderRegistry.Registration?
}

/// A call of a provider or a loader, shared by all loads that want the same.
typealias ByteLoad = SharedLoad<ByteSource, LoadedBytes>

extension KingfisherManager {
    /// The bytes of a provider, which is called once for all loads of its key at the same time.
    func bytes(
        of provider: any ImageDataProvider,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> LoadedBytes {
        try await sharedBytes(ByteSource(source: .provider(provider)), options) { [self] load throws(KingfisherError) in
            let data = try await data(of: provider)
            return LoadedBytes(data, largestSide: LoadedBytes.largestSide(for: load.flight.subscribers))
        }
    }

    /// The bytes of a network source by a loader, which is called once for all loads of the source at the same time.
    func bytes(
        of source: Source,
        at url: URL,
        by entry: ImageLoaderRegistry.Entry,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> LoadedBytes {
        let wanted = ByteSource(source: source, loader: entry.registration)
        return try await sharedBytes(wanted, options) { [self] load throws(KingfisherError) in
            let (data, response) = try await data(of: entry.loader, at: url, options) {
                load.report(received: $0, expected: $1)
            }
            return LoadedBytes(
                data,
                request: URLRequest(url: url),
                response: response.map { TransportResponse($0) },
                isPersonal: true,
                largestSide: LoadedBytes.largestSide(for: load.flight.subscribers)
            )
        }
    }

    private func sharedBytes(
        _ wanted: ByteSource,
        _ options: KingfisherParsedOptionsInfo,
        _ call: @escaping @Sendable (ByteLoad) async throws(KingfisherError) -> LoadedBytes
    ) async throws(KingfisherError) -> LoadedBytes {
        var hooks = LoadHooks()
        hooks.progressed = options.hooks.progressed
        var subscriber = Subscriber<LoadedBytes>(hooks: hooks, priority: options.downloadPriority)
        subscriber.downsamplingLimit = options.downsamplingLimit
        return try await byteLoads.value(for: wanted, subscriber) {
            ByteLoad(wanted, of: wanted.source, in: byteLoads, operation: call)
        } use: { bytes, _ in
            bytes
        }
    }

    /// The bytes of a source of which no image is made: a provider's, a loader's or the downloader's.
    func data(
        of source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> DataLoadingResult {
        switch source {
        case .provider(let provider):
            return DataLoadingResult(data: try await data(of: provider), url: nil, metrics: nil)
        case .network(let resource):
            let url = resource.downloadURL
            guard let entry = loaders.entry(for: url, options) else {
                return try await (options.downloader ?? downloader).downloadData(with: url, options: options)
            }
            return DataLoadingResult(try await bytes(of: source, at: url, by: entry, options))
        }
    }

    /// The data of a provider, which is called off the caller's thread.
    func data(of provider: any ImageDataProvider) async throws(KingfisherError) -> Data {
        let result = await WorkExecutor.userCode.run { () async -> Result<Data, any Error> in
            do { return .success(try await provider.data()) } catch { return .failure(error) }
        }
        switch result {
        case .success(let data): return data
        case .failure(is CancellationError): throw .requestError(reason: .dataProviderCancelled(provider: provider))
        case .failure(let error):
            throw .imageSettingError(reason: .dataProviderError(provider: provider, error: error))
        }
    }

    /// The bytes at a URL; the loader is called off the caller's thread.
    ///
    /// (In an extension of the protocol, Swift 6.3 would call the loader on a thread of the cooperative pool.)
    private func data(
        of loader: any ImageLoading,
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws(KingfisherError) -> (Data, URLResponse?) {
        let result = await WorkExecutor.userCode.run { () async -> Result<(Data, URLResponse?), any Error> in
            do { return .success(try await loader.load(url, options: options, progress: progress)) } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let loaded): return loaded
        case .failure(let error as KingfisherError): throw error
        case .failure(is CancellationError): throw .requestError(reason: .asyncTaskContextCancelled)
        case .failure(let error): throw .responseError(reason: .URLSessionError(error: error))
        }
    }
}
