// Which status a response has for a load that failed.

import Foundation
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct ResponseStatusTests {
    @Test("The source's server, its time, its size, this program and its caches have statuses of their own")
    func reasons() {
        let (url, source) = (Failure.url, Failure.source)
        func setting(_ reason: KingfisherError.ImageSettingErrorReason) -> Int {
            KingfisherError.imageSettingError(reason: reason).responseStatus
        }
        func request(_ reason: KingfisherError.RequestErrorReason) -> Int {
            KingfisherError.requestError(reason: reason).responseStatus
        }
        for (status, expected) in [(404, 404), (410, 404), (403, 502), (429, 502), (500, 502)] {
            #expect(Failure.status(status).responseStatus == expected, "\(status)")
        }
        let transfers: [(URLError.Code, Int)] = [
            (.timedOut, 504), (.dataLengthExceedsMaximum, 422), (.cannotFindHost, 502), (.unsupportedURL, 400),
            (.resourceUnavailable, 403),
        ]
        for (code, expected) in transfers { #expect(Failure.transfer(code).responseStatus == expected, "\(code)") }
        #expect(request(.asyncTaskContextCancelled) == 503 && request(.invalidated) == 500)
        #expect(request(.emptyRequest) == 403 && request(.downloadRefused(source: source)) == 403)
        #expect(request(.fileURLNotAllowed(url: url)) == 403 && request(.urlBlocked(url: url)) == 502)
        #expect(KingfisherError.cacheError(reason: .imageNotExisting(key: "k")).responseStatus == 404)
        #expect(KingfisherError.cacheError(reason: .diskStorageIsNotReady(cacheURL: url)).responseStatus == 500)
        #expect(setting(.emptySource) == 400 && setting(.alternativeSourcesExhausted([])) == 502)
        let failures = [404, 500].map { PropagationError(source: source, error: Failure.status($0)) }
        #expect(setting(.alternativeSourcesExhausted(failures)) == 404)
    }

    @Test("Bytes are to blame, or a processor that makes nothing of an image, or decoders that cannot be locked")
    func bytes() throws {
        func failed(on item: ImageProcessItem) -> Int {
            let processor = DefaultImageProcessor.default
            return KingfisherError.processorError(reason: .processingFailed(processor: processor, item: item))
                .responseStatus
        }
        #expect(failed(on: .data(Data("no image".utf8))) == 422)
        #expect(failed(on: .image(SampleImage.gradient(8, 8))) == 500)
        #expect(failed(on: .data(try SampleImage.png(8, 8))) == 500)
        #expect(ImagingError.isolationUnavailable(detail: "").responseStatus == 500)
        #expect(ImagingError.outOfMemory(bytes: nil).responseStatus == 422)
    }
}
