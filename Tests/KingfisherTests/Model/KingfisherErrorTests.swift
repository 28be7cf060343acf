// Errors of the library: codes, domains and descriptions.

import Foundation
import Testing

@testable import Kingfisher

@Suite struct KingfisherErrorTests {
    private let url = URL(fileURLWithPath: "/cache/file")
    private let response = URLResponse(
        url: URL(fileURLWithPath: "/x"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
    private let head = HTTPURLResponse(
        url: URL(fileURLWithPath: "/x"),
        statusCode: 200,
        httpVersion: nil,
        headerFields: nil
    )
    private struct Reason: Error {}
    private var photo: LivePhotoSource { LivePhotoSource(urls: [url]) }

    private var samples: [(KingfisherError, Int)] {
        plainSamples + [head].compactMap { $0 }.map { (.responseError(reason: .responseRejected(response: $0)), 2101) }
    }

    private var plainSamples: [(KingfisherError, Int)] {
        let request = URLRequest(url: URL(fileURLWithPath: "/x"))
        let provider = RawImageDataProvider(data: Data(), cacheKey: "raw")
        let failure = PropagationError(source: .provider(provider), error: .requestError(reason: .emptyRequest))
        return [
            (.requestError(reason: .emptyRequest), 1001), (.requestError(reason: .invalidURL(request: request)), 1002),
            (.requestError(reason: .livePhotoTaskCancelled(source: photo)), 1004),
            (.requestError(reason: .asyncTaskContextCancelled), 1005),
            (.requestError(reason: .dataProviderCancelled(provider: provider)), 1006),
            (.requestError(reason: .urlBlocked(url: url)), 1101),
            (.requestError(reason: .downloadRefused(source: .network(url))), 1102),
            (.requestError(reason: .fileURLNotAllowed(url: url)), 1105),
            (.responseError(reason: .invalidURLResponse(response: response)), 2001),
            (.responseError(reason: .URLSessionError(error: URLError(.timedOut))), 2003),
            (.responseError(reason: .cancelledByDelegate(response: response)), 2006),
            (.responseError(reason: .decryptionFailed(task: SessionDataTask(request), error: Reason())), 2102),
            (.cacheError(reason: .fileEnumeratorCreationFailed(url: url)), 3001),
            (.cacheError(reason: .invalidFileEnumeratorContent(url: url)), 3002),
            (.cacheError(reason: .invalidURLResource(error: Reason(), key: "k", url: url)), 3003),
            (.cacheError(reason: .cannotLoadDataFromDisk(url: url, error: Reason())), 3004),
            (.cacheError(reason: .cannotCreateDirectory(path: "/p", error: Reason())), 3005),
            (.cacheError(reason: .imageNotExisting(key: "k")), 3006),
            (.cacheError(reason: .cannotConvertToData(object: 1, error: Reason())), 3007),
            (
                .cacheError(
                    reason: .cannotSerializeImage(image: nil, original: nil, serializer: DefaultCacheSerializer.default)
                ),
                3008
            ),
            (.cacheError(reason: .cannotCreateCacheFile(fileURL: url, key: "k", data: Data(), error: Reason())), 3009),
            (.cacheError(reason: .cannotSetCacheFileAttribute(filePath: "/p", attributes: [:], error: Reason())), 3010),
            (.cacheError(reason: .diskStorageIsNotReady(cacheURL: url)), 3011),
            (.cacheError(reason: .missingLivePhotoResourceOnDisk(LivePhotoResource(downloadURL: url))), 3012),
            (
                .processorError(
                    reason: .processingFailed(processor: DefaultImageProcessor.default, item: .data(Data()))
                ), 4001
            ),
            (.imageSettingError(reason: .emptySource), 5001),
            (
                .imageSettingError(
                    reason: .notCurrentSourceTask(result: nil, error: Reason(), source: .provider(provider))
                ), 5002
            ),
            (.imageSettingError(reason: .dataProviderError(provider: provider, error: Reason())), 5003),
            (.imageSettingError(reason: .alternativeSourcesExhausted([failure])), 5004),
            (
                .imageSettingError(
                    reason: .notCurrentLivePhotoSourceTask(
                        result: RetrieveLivePhotoResult(),
                        error: nil,
                        source: photo
                    )
                ), 5005
            ),
            (
                .imageSettingError(
                    reason: .notCurrentLivePhotoSourceTask(result: nil, error: Reason(), source: photo)
                ), 5005
            ),
            (.imageSettingError(reason: .livePhotoResultError(result: nil, error: Reason(), source: photo)), 5006),
            (.imageSettingError(reason: .livePhotoResultError(result: nil, error: nil, source: photo)), 5006),
        ]
    }

    @Test("No error is both transient and permanent") func recurrence() {
        for (error, _) in samples { #expect(!(error.isTransient && error.isPermanent), "\(error)") }
    }

    @Test("Every reason has its error code") func errorCodes() {
        for (error, code) in samples { #expect(error.errorCode == code) }
    }

    @Test("Domain, code and description survive bridging to NSError")
    func bridgingToNSError() {
        for (error, code) in samples {
            let bridged = error as NSError
            #expect(bridged.domain == KingfisherError.domain)
            #expect(bridged.code == code)
            #expect(error.localizedDescription == error.errorDescription)
        }
    }

    @Test("Every description is one complete line that contains the code") func descriptions() {
        for (error, code) in samples where code != 5004 {
            #expect(error.description.count > 20 && !error.description.contains("\n"))
            #expect(error.description.hasSuffix("(code \(code))"))
        }
        #expect(
            KingfisherError.imageSettingError(
                reason: .notCurrentLivePhotoSourceTask(result: nil, error: nil, source: photo)
            ).errorDescription == nil
        )
        #expect(
            KingfisherError.imageSettingError(
                reason: .notCurrentSourceTask(result: nil, error: nil, source: .network(url))
            ).errorDescription == nil
        )
    }

    @Test("Of several sources that failed each has a line, with one code") func severalSources() throws {
        let errors: [KingfisherError] = [
            .requestError(reason: .emptyRequest), .cacheError(reason: .imageNotExisting(key: "k")),
        ]
        let failures = errors.map { PropagationError(source: .network(url), error: $0) }
        let error = KingfisherError.imageSettingError(reason: .alternativeSourcesExhausted(failures))
        let lines = try #require(error.errorDescription).split(separator: "\n").map(String.init)
        #expect(lines == ["All 2 sources failed:", "\(failures[0]);", "\(failures[1])"])
        #expect(lines.dropFirst().allSatisfy { $0.components(separatedBy: "(code ").count == 2 })
        #expect(error.description.hasSuffix("(code 3006)\n(code 5004)"))
    }

    @Test("`isTaskCancelled` is true for every cancellation and for nothing else")
    func cancellations() {
        // Error 1003 carries a task that only a downloader creates; the tests of cancelling cover it.
        let cancellations: Set = [1004, 1005, 1006]
        for (error, code) in samples {
            #expect(error.isTaskCancelled == cancellations.contains(code), "\(code)")
            #expect(error.isCancelled == error.isTaskCancelled)
        }
    }

    private func undecodable(_ data: Data) -> String {
        KingfisherError.processorError(
            reason: .processingFailed(processor: DefaultImageProcessor.default, item: .data(data))
        ).description
    }

    @Test("The error for undecodable data names what the data looks like") func nonImageContent() throws {
        #expect(undecodable(Data("<!DOCTYPE html><html><body>404</body></html>".utf8)).contains("HTML"))
        #expect(undecodable(Data()).contains("0 bytes"))
        let random = Data((0..<200).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 19) })
        #expect(undecodable(random).contains("200 bytes"))
    }

    @Test("Descriptions of network errors name the host and what to do") func networkErrors() throws {
        let failingURL = try #require(URL(string: "http://example.com:81/a.png"))
        func text(_ code: URLError.Code) -> String {
            let error = URLError(code, userInfo: [NSURLErrorFailingURLErrorKey: failingURL])
            return KingfisherError.responseError(reason: .URLSessionError(error: error)).description
        }
        #expect(text(.timedOut).contains("in time"))
        for code: URLError.Code in [
            .cannotConnectToHost, .cannotFindHost, .networkConnectionLost, .secureConnectionFailed,
        ] {
            #expect(text(code).contains("example.com"))
        }
        #expect(text(.httpTooManyRedirects).contains("redirects"))
    }
}
