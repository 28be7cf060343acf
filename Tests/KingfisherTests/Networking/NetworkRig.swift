// Helpers for tests of the downloader: a server, a recording delegate, and callers whose results can be awaited.

import Foundation
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

typealias DownloadResult = Result<ImageLoadingResult, KingfisherError>

/// A URL that no test loads over a network.
let fakeURL = URL(fileURLWithPath: "/picture.png")

/// A processor that does not decode: these tests are about bytes.
struct NamedProcessor: ImageProcessor {
    let identifier: String
    let image = SampleImage.gradient(2, 2)
    let runs = Counter()
    var onRun: @Sendable () -> Void = {}
    init(_ identifier: String = "named") { self.identifier = identifier }
    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        runs.add()
        onRun()
        guard case .data(let data) = item, !data.isEmpty else { return nil }
        return image
    }
}

/// One call of a downloader with a completion handler.
final class Caller: Sendable {
    private let outcome = Promise<DownloadResult>()
    private let completions = Counter()
    private let started = Promise<DownloadTask>()
    /// Keeps the downloader alive, because a released one cancels its downloads.
    private let downloader: ImageDownloader?

    private init(_ downloader: ImageDownloader?) { self.downloader = downloader }

    static func load(
        _ url: URL = fakeURL,
        with downloader: ImageDownloader,
        _ info: KingfisherOptionsInfo = [],
        progress: DownloadProgressBlock? = nil,
        keepsDownloader: Bool = true
    ) -> Caller {
        let caller = Caller(keepsDownloader ? downloader : nil)
        let options: KingfisherOptionsInfo = [.callbackQueue(.untouch), .processor(NamedProcessor())] + info
        caller.started.fulfil(
            downloader.downloadImage(with: url, options: options, progressBlock: progress) { caller.complete($0) }
        )
        return caller
    }

    private func complete(_ result: DownloadResult) {
        completions.add()
        outcome.fulfil(result)
    }

    var task: DownloadTask { get async { await started.value } }
    var result: DownloadResult { get async { await outcome.value } }
    var resultIfAny: DownloadResult? { outcome.valueIfFulfilled }
    var completionCount: Int { completions.value }
    func cancel() { started.valueIfFulfilled?.cancel() }
    var error: KingfisherError? {
        get async {
            if case .failure(let error) = await result { error } else { nil }
        }
    }
    var url: URL? { get async { try? await result.get().url } }
    var data: Data? { get async { try? await result.get().originalData } }
}

/// Runs a test with a server and a downloader.
func withDownloader(_ body: (TestServer, ImageDownloader) async throws -> Void) async throws {
    try await withServer { server in
        let downloader = ImageDownloader(name: "test")
        downloader.downloadTimeout = 300  // longer than the busiest machine takes
        try await body(server, downloader)
    }
}

let someBytes = Data("these are the bytes of a picture".utf8)

/// A delegate that records its calls and returns what a test sets.
final class RecordingDelegate: ImageDownloaderDelegate, Sendable {
    let log = Box<[String]>([])
    let finishes = Box<[(response: URLResponse?, error: KingfisherError?)]>([])
    /// Opens when a transfer is over.
    let finished = Gate()
    let disposition: URLSession.ResponseDisposition
    let change: @Sendable (Data) -> Data?
    let isValid: @Sendable (Int) -> Bool

    init(
        disposition: URLSession.ResponseDisposition = .allow,
        isValid: @escaping @Sendable (Int) -> Bool = { (200..<400).contains($0) },
        change: @escaping @Sendable (Data) -> Data? = { $0 }
    ) {
        self.disposition = disposition
        self.change = change
        self.isValid = isValid
    }

    private func note(_ line: String) { log.change { $0.append(line) } }

    func imageDownloader(
        _ downloader: ImageDownloader,
        willDownloadImageForURL url: URL,
        with request: URLRequest?
    ) { note("will") }
    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        note("status \(code)")
        return isValid(code)
    }
    func imageDownloader(
        _ downloader: ImageDownloader,
        didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        note("response")
        return disposition
    }
    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask) -> Data? {
        note("data \(data.count)")
        return change(data)
    }
    func imageDownloader(
        _ downloader: ImageDownloader,
        didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?,
        error: (any Error)?
    ) {
        note(error == nil ? "finish" : "finish with error")
        finishes.change { $0.append((response, error as? KingfisherError)) }
        finished.open()
    }
    func imageDownloader(
        _ downloader: ImageDownloader,
        didDownload image: KFCrossPlatformImage,
        for url: URL,
        with response: URLResponse?
    ) { note("image") }
}

/// The head of a successful response.
func plainResponse(length: Int?) throws -> HTTPURLResponse {
    let fields = length.map { ["Content-Length": "\($0)"] } ?? [:]
    return try #require(HTTPURLResponse(url: fakeURL, statusCode: 200, httpVersion: nil, headerFields: fields))
}
