// Code of users that blocks its thread: neither the disk cache nor another load waits for it.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

private typealias Code = BlockingCodeTests.Code

/// Calls a closure where a load calls code of a user.
private final class UserCode: ImageDataProvider, ImageLoading, ImageDownloaderDelegate {
    let code: Code
    let cacheKey: String
    let bytes: Data
    let body: @Sendable () -> Void

    init(_ code: Code, _ number: Int, _ bytes: Data, body: @escaping @Sendable () -> Void) {
        (self.code, cacheKey, self.bytes, self.body) = (code, "\(code)/\(number)", bytes, body)
    }

    private func call(_ code: Code) { if code == self.code { body() } }

    func data() async throws -> Data {
        body()
        return bytes
    }

    func canLoad(_ url: URL, options: KingfisherParsedOptionsInfo) -> Bool { url.path == "/\(cacheKey)" }

    func load(
        _ url: URL,
        options: KingfisherParsedOptionsInfo,
        progress: @escaping @Sendable (Int64, Int64) -> Void
    ) async throws -> (Data, URLResponse?) {
        body()
        return (bytes, nil)
    }

    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        call(.delegateStatus)
        return true
    }

    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL) -> Data? {
        call(.delegateData)
        return data
    }

    func imageDownloader(
        _ downloader: ImageDownloader,
        didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?,
        error: (any Error)?
    ) { call(.delegateEnd) }

    func imageDownloader(
        _ downloader: ImageDownloader,
        didDownload image: KFCrossPlatformImage,
        for url: URL,
        with response: URLResponse?
    ) { call(.delegateImage) }

    /// Begins a load that calls the closure, by a downloader of its own: its delegate must not be asked about others.
    func begin(_ rig: Rig, completion: @escaping @Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void) {
        rig.server.route("/\(cacheKey)", .data(bytes))
        let (body, downloader) = (body, ImageDownloader(name: cacheKey))
        downloader.downloadTimeout = 300
        downloader.delegate = self
        var source = Source.network(rig.server.url("/\(cacheKey)"))
        var options: KingfisherOptionsInfo = [.downloader(downloader)]
        switch code {
        case .provider: source = .provider(self)
        case .loader: rig.manager.loaders.add(self)
        case .decryptor:
            options.append(
                .decryptor(
                    AnyDataDecryptor { data, _ in
                        body()
                        return data
                    }
                )
            )
        case .dataModifier:
            options.append(
                .dataModifier(
                    AnyDataModifier { data, _ in
                        body()
                        return data
                    }
                )
            )
        case .delegateStatus, .delegateData, .delegateEnd, .delegateImage: break
        }
        // The delegate is held weakly.
        rig.manager.retrieveImage(with: source, options: options) { [self] result in
            withExtendedLifetime(self) { completion(result) }
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct BlockingCodeTests {
    /// Code that a load calls, and that may block.
    enum Code: CaseIterable {
        case provider, loader, decryptor, dataModifier, delegateStatus, delegateData, delegateEnd, delegateImage
    }

    private static let count = 8

    @Test("An image on disk is found while eight calls of users' code block", arguments: Code.allCases)
    func hits(while code: Code) async throws {
        try await Rig.run { rig in
            let hit = try await rig.cached("/hit", inMemory: false)
            let bytes = try SampleImage.png(8, 8)
            let (gate, arrived, ended) = (DispatchSemaphore(value: 0), Promise<Void>(), Promise<Void>())
            let (arrivals, ends) = (Counter(), Counter())
            for number in 0..<Self.count {
                let caller = UserCode(code, number, bytes) {
                    if arrivals.add() == Self.count { arrived.fulfil(()) }
                    gate.wait()
                }
                caller.begin(rig) { result in
                    #expect(result.code == 0)
                    if ends.add() == Self.count { ended.fulfil(()) }
                }
            }
            await arrived.value
            #expect(try await rig.manager.retrieveImage(with: hit).cacheType == .disk)
            #expect(ends.value == 0)
            for _ in 0..<Self.count { gate.signal() }
            await ended.value
        }
    }

    @Test("Eight calls of users' code that each wait for another load of the same kind end", arguments: Code.allCases)
    func nested(code: Code) async throws {
        try await Rig.run { rig in
            let bytes = try SampleImage.png(8, 8)
            let (arrivals, ends, ended) = (Counter(), Counter(), Promise<Void>())
            let all = DispatchSemaphore(value: 0)
            for number in 0..<Self.count {
                let caller = UserCode(code, number, bytes) {
                    // None begins its inner load before all are here.
                    if arrivals.add() == Self.count { for _ in 0..<Self.count { all.signal() } }
                    all.wait()
                    let inner = DispatchSemaphore(value: 0)
                    UserCode(code, Self.count + number, bytes) {}.begin(rig) { result in
                        #expect(result.code == 0)
                        inner.signal()
                    }
                    inner.wait()
                }
                caller.begin(rig) { result in
                    #expect(result.code == 0)
                    if ends.add() == Self.count { ended.fulfil(()) }
                }
            }
            await ended.value
        }
    }
}
