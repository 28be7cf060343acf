// Descriptions of errors: none contains a password or a signature of a URL.

import Foundation
import KFTransport
import Testing

@testable import Kingfisher

@Suite struct ErrorRedactionTests {
    private struct Reason: Error {
        let url: URL
    }

    private func url(_ text: String = "https://me:PASS@a.example/b.png?w=3&X-Amz-Signature=SIGNED&token=SIGNED") throws
        -> URL
    {
        try #require(URL(string: text))
    }

    private func requestErrors() throws -> [KingfisherError] {
        let url = try url(), task = SessionDataTask(URLRequest(url: url))
        let provider = RawImageDataProvider(data: Data(), cacheKey: url.cacheKey)
        return [
            .requestError(reason: .invalidURL(request: URLRequest(url: url))),
            .requestError(reason: .taskCancelled(task: task, token: 1)),
            .requestError(reason: .livePhotoTaskCancelled(source: LivePhotoSource(urls: [url, url]))),
            .requestError(reason: .dataProviderCancelled(provider: provider)),
            .requestError(reason: .fileURLNotAllowed(url: url)), .requestError(reason: .urlBlocked(url: url)),
            .requestError(reason: .downloadRefused(source: .network(url))),
            .imageSettingError(reason: .dataProviderError(provider: provider, error: Reason(url: url))),
            .cacheError(reason: .imageNotExisting(key: url.cacheKey)),
            .cacheError(reason: .missingLivePhotoResourceOnDisk(LivePhotoResource(downloadURL: url))),
        ]
    }

    private func responseErrors() throws -> [KingfisherError] {
        let url = try url(), task = SessionDataTask(URLRequest(url: url))
        let redirect = try #require(
            HTTPURLResponse(
                url: url,
                statusCode: 302,
                httpVersion: nil,
                headerFields: ["Location": "//me:PASS@b.example/c?sig=SIGNED"]
            )
        )
        let inner = URLError(
            .timedOut,
            userInfo: [NSURLErrorFailingURLErrorKey: url, NSUnderlyingErrorKey: Reason(url: url)]
        )
        let transport = TransportError(.badServerResponse, "\(url) sent nonsense", url: url)
        return [
            .responseError(reason: .invalidURLResponse(response: redirect)),
            .responseError(reason: .invalidHTTPStatusCode(response: redirect)),
            .responseError(reason: .URLSessionError(error: inner)),
            .responseError(reason: .URLSessionError(error: Reason(url: url))),
            .responseError(reason: .URLSessionError(error: transport.urlError)),
            .responseError(reason: .dataModifyingFailed(task: task)),
            .responseError(reason: .noURLResponse(task: task)),
            .responseError(reason: .cancelledByDelegate(response: redirect)),
            .responseError(reason: .responseRejected(response: redirect)),
            .responseError(reason: .decryptionFailed(task: task, error: Reason(url: url))),
            .responseError(reason: .decryptionFailed(task: task, error: nil)),
            .responseError(reason: .notModified(response: redirect)),
            .responseError(reason: .responseTooLarge(task: task, limit: 1)),
        ]
    }

    private func samples() throws -> [KingfisherError] {
        let errors = try requestErrors() + responseErrors()
        let source = Source.network(try url())
        let failures = errors.map { PropagationError(source: source, error: $0) }
        return errors + [
            .imageSettingError(reason: .alternativeSourcesExhausted(failures)),
            .imageSettingError(reason: .notCurrentSourceTask(result: nil, error: errors[0], source: source)),
        ]
    }

    @Test("However an error is printed, passwords and signatures are left out") func printedErrors() throws {
        for error in try samples() {
            let texts = [
                error.localizedDescription, "\(error)", String(describing: error), String(reflecting: error),
                "\(error as any Error)", "\([error])", "\(Optional(error) as Any)", "\(error as NSError)",
                (error as NSError).localizedDescription, "\(Result<Int, KingfisherError>.failure(error))",
            ]
            for text in texts {
                #expect(!text.contains("PASS") && !text.contains("SIGNED"), "\(error.errorCode): \(text)")
            }
        }
    }

    @Test("The rest of a URL stays in the description, and the error cases keep the whole URL") func whatStays() throws
    {
        let url = try url(), error = KingfisherError.requestError(reason: .invalidURL(request: URLRequest(url: url)))
        #expect(
            error.errorDescription?.contains(
                "(https://a.example/b.png?w=3&X-Amz-Signature=REDACTED&token=REDACTED)"
            ) == true
        )
        guard case .requestError(.invalidURL(let request)) = error else { return }
        #expect(request.url == url)
    }

    @Test("A failure among several is printed without secrets") func propagationErrors() throws {
        let failure = PropagationError(source: .network(try url()), error: .requestError(reason: .emptyRequest))
        for text in ["\(failure)", String(reflecting: failure)] {
            #expect(text.hasPrefix("https://a.example/b.png?w=3&X-Amz-Signature=REDACTED&token=REDACTED: "))
        }
        let malformed = Base64ImageDataProvider.MalformedBase64(cacheKey: "k?token=SIGNED")
        #expect("\(malformed)" == "the text for k?token=REDACTED is not valid Base64")
    }
}
