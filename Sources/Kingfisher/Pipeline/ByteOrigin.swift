// Where the bytes of a source come from: a provider, a loader or a downloader. A step of a load.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport

extension KingfisherManager {
    /// Gets the bytes of a plan's source, and makes an image of them.
    ///
    /// - Parameters:
    ///   - plan: What is loaded.
    ///   - load: Is notified of where it is loaded from.
    ///   - use: Makes the image; other loads may share the bytes as long as it runs.
    /// - Returns: The image.
    /// - Throws: Why there are no bytes, or the error of `use`.
    func withBytes(
        of plan: LoadPlan,
        for load: SharedImageLoad,
        use: (LoadedBytes) async throws(KingfisherError) -> LoadedImage
    ) async throws(KingfisherError) -> LoadedImage {
        switch plan.source {
        case .provider(let provider):
            load.didStart(from: .provider)
            return try await use(
                try await byteLoads.bytes(of: plan.source, by: nil, plan.options) { call throws(KingfisherError) in
                    let data = try await Kingfisher.data(of: provider)
                    return LoadedBytes(data, largestSide: LoadedBytes.largestSide(for: call.subscribers))
                }
            )
        case .network(let resource):
            let url = resource.downloadURL
            if let entry = loaders.entry(for: url, plan.options) {
                load.didStart(from: .provider)
                let call = call(of: entry, for: url, plan.options)
                return try await use(try await byteLoads.bytes(of: plan.source, by: entry, plan.options, call))
            }
            let downloader = plan.options.downloader ?? downloader
            guard !downloader.isSubclassed else {
                return try await use(try await downloader.bytes(at: url, plan.options, for: load))
            }
            return try await downloader.loader.withBytes(
                at: url,
                plan.options,
                sharesValuesSince: plan.options.forceRefresh ? nil : load.beginning
            ) { bytes, _ throws(KingfisherError) in try await use(bytes) }
        }
    }

    /// The bytes of a source, from its provider, its loader or the downloader; no image is made of them.
    func data(
        of source: Source,
        _ options: KingfisherParsedOptionsInfo
    ) async throws(KingfisherError) -> DataLoadingResult {
        switch source {
        case .provider(let provider):
            return DataLoadingResult(data: try await Kingfisher.data(of: provider), url: nil, metrics: nil)
        case .network(let resource):
            let url = resource.downloadURL
            guard let entry = loaders.entry(for: url, options) else {
                return try await (options.downloader ?? downloader).downloadData(with: url, options: options)
            }
            let call = call(of: entry, for: url, options)
            return DataLoadingResult(try await byteLoads.bytes(of: source, by: entry, options, call))
        }
    }

    private func call(
        of entry: ImageLoaderRegistry.Entry,
        for url: URL,
        _ options: KingfisherParsedOptionsInfo
    ) -> SharedTask<ByteSource, LoadedBytes>.Operation {
        entry.call(for: url, options, counting: (options.downloader ?? downloader).loader.bytesInFlight)
    }
}

// MARK: - Providers and loaders

/// What is loaded, and by which loader; nil for a provider.
struct ByteSource: Hashable, Sendable {
    let source: SourceKey
    var loader: ImageLoaderRegistry.Registration?
    /// Of a loader that heeds them: who has nothing cannot share a response that says "not modified".
    var conditions: [String: String] = [:]
}

/// A call of a provider or a loader, shared by all loads that want the same.
typealias ByteCalls = SharedTasks<ByteSource, LoadedBytes>

extension ByteCalls {
    /// The bytes that a call gives, which is made once for all loads of the source at one time.
    fileprivate func bytes(
        of source: Source,
        by loader: ImageLoaderRegistry.Entry?,
        _ options: KingfisherParsedOptionsInfo,
        _ call: @escaping SharedTask<ByteSource, LoadedBytes>.Operation
    ) async throws(KingfisherError) -> LoadedBytes {
        var key = ByteSource(source: SourceKey(source), loader: loader?.registration)
        if loader?.loader is any ConditionalImageLoading { key.conditions = options.load.conditionalFields }
        let unwanted = KingfisherError.requestError(reason: .asyncTaskContextCancelled)
        var subscriber = Subscriber<LoadedBytes>(observer: options.load.observer, priority: options.downloadPriority)
        subscriber.downsamplingLimit = options.downsamplingLimit
        return try await value(for: key, subscriber) {
            SharedTask(key, .load(of: source, unwanted: unwanted), in: self, operation: call)
        }
    }
}

/// The data of a provider, which is called off the caller's thread.
///
/// (No function of the protocol: in an extension of a protocol, Swift 6.3 goes on on a thread of the cooperative pool.)
private func data(of provider: any ImageDataProvider) async throws(KingfisherError) -> Data {
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

extension ImageLoaderRegistry.Entry {
    /// A call for the bytes at a URL, which count as what a downloader holds until images are made of them.
    fileprivate func call(
        for url: URL,
        _ options: KingfisherParsedOptionsInfo,
        counting bytesInFlight: BytesInFlight
    ) -> SharedTask<ByteSource, LoadedBytes>.Operation {
        { call throws(KingfisherError) in
            let (data, response) = try await loaded(url, options) { call.didProgress($0, of: $1) }
            return LoadedBytes(
                data,
                request: URLRequest(url: url),
                response: response.map { TransportResponse($0) },
                isPersonal: !(loader is any ConditionalImageLoading),
                share: bytesInFlight.share(of: data.count),
                largestSide: LoadedBytes.largestSide(for: call.subscribers)
            )
        }
    }

    /// The bytes at a URL; the loader is called off the caller's thread.
    private func loaded(
        _ url: URL,
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

// MARK: - Downloaders of users

extension ImageDownloader {
    /// The bytes that a subclass downloads, with the image that it makes of them.
    ///
    /// The transfer it starts by calling `super` serves the load; without one, it does so itself.
    fileprivate func bytes(
        at url: URL,
        _ options: KingfisherParsedOptionsInfo,
        for load: SharedImageLoad
    ) async throws(KingfisherError) -> LoadedBytes {
        let download = try await WorkExecutor.userCode.run { () async throws(KingfisherError) in
            try await downloadWithHandle(with: url, options: options) { task in
                guard !load.hasStarted, let transfer = task.sessionTask, let token = task.cancelToken else { return }
                load.didStart(from: .transfer(transfer, token))
            }
        }
        if !load.hasStarted { load.didStart(from: .provider) }
        let request = await presumedRequest(for: url, options)
        let bytes = LoadedBytes(
            download.originalData,
            request: request,
            response: download.response,
            metrics: download.metrics,
            isPersonal: mayHaveSentCredentials(with: request)
        )
        bytes.adopt(download.image, for: options)
        return bytes
    }
}
