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
    let source: SourceKey
    var loader: ImageLoaderRegistry.Registration?
}

/// A call of a provider or a loader, shared by all loads that want the same.
typealias ByteLoad = SharedTask<ByteSource, LoadedBytes>

extension KingfisherManager {
    /// The bytes of a provider, which is called once for all loads of its key at the same time.
    func bytes(
        of provider: any ImageDataProvider,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> LoadedBytes {
        try await sharedBytes(of: .provider(provider), by: nil, options) { [self] load throws(KingfisherError) in
            let data = try await data(of: provider)
            return LoadedBytes(data, largestSide: LoadedBytes.largestSide(for: load.subscribers))
        }
    }

    /// The bytes of a network source by a loader, which is called once for all loads of the source at the same time.
    func bytes(
        of source: Source,
        at url: URL,
        by entry: ImageLoaderRegistry.Entry,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> LoadedBytes {
        try await sharedBytes(of: source, by: entry.registration, options) { [self] load throws(KingfisherError) in
            let (data, response) = try await data(of: entry.loader, at: url, options) {
                load.didProgress($0, of: $1)
            }
            return LoadedBytes(
                data,
                request: URLRequest(url: url),
                response: response.map { TransportResponse($0) },
                isPersonal: true,
                largestSide: LoadedBytes.largestSide(for: load.subscribers)
            )
        }
    }

    private func sharedBytes(
        of source: Source,
        by loader: ImageLoaderRegistry.Registration?,
        _ options: KingfisherParsedOptionsInfo,
        _ call: @escaping ByteLoad.Operation
    ) async throws(KingfisherError) -> LoadedBytes {
        let key = ByteSource(source: SourceKey(source), loader: loader)
        let unwanted = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        var subscriber = Subscriber<LoadedBytes>(observer: options.observer, priority: options.downloadPriority)
        subscriber.downsamplingLimit = options.downsamplingLimit
        return try await byteLoads.value(for: key, subscriber) {
            ByteLoad(key, .load(of: source, unwanted: unwanted), in: byteLoads, operation: call)
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
