// Errors from which a server derives its response status, with `import Kingfisher` and its public interface only.

import Foundation
import Kingfisher
import Synchronization
import Testing

/// Fails for every input.
private struct Refusal: ImageProcessor {
    let identifier = "refusal"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? { nil }
}

/// Decodes data as the default processor does, as processors of users do.
private struct Decoding: ImageProcessor {
    let identifier = "decoding"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultImageProcessor.default.process(item: item, options: options)
    }
}

/// Accepts data that begins with its word, decodes none of it, and counts the attempts.
private final class FailingCoder: ImageCoder {
    struct Failure: Error, CustomStringConvertible { let description: String }
    let word = UUID().uuidString
    private let attempts = Mutex(0)

    var attemptCount: Int { attempts.withLock { $0 } }

    func canDecode(_ data: Data) -> Bool { data.starts(with: word.utf8) }

    func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        let number = attempts.withLock { attempts in
            attempts += 1
            return attempts
        }
        throw Failure(description: "attempt \(number)")
    }
}

@Suite struct ImagingErrorTests {
    /// The status a server responds with.
    private func status(_ error: KingfisherError) -> Int {
        switch error.imagingError {
        case .limitExceeded, .tooManyFrames, .outOfMemory: 413
        case .emptyData, .unrecognizedFormat, .unsupported, .notBuiltIn: 415
        case .malformed, .coderFailed, .encodingFailed, .decoderEnded: 422
        default: 500
        }
    }

    /// A PNG that ends where its pixels would begin.
    private func png(_ side: UInt8, checksum: [UInt8]) -> Data {
        Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8))
            + Data([0, 0, side, 0x60, 0, 0, side, 0x60, 8, 6, 0, 0, 0] + checksum)
            + Data([0, 0, 0, 0] + Array("IDAT".utf8) + [0x35, 0xAF, 0x06, 0x1E])
    }

    fileprivate func failure(_ data: Data, _ processor: any ImageProcessor = DefaultImageProcessor.default) async throws
        -> KingfisherError
    {
        let provider = RawImageDataProvider(data: data, cacheKey: UUID().uuidString)
        return try await #require(throws: KingfisherError.self) {
            try await KingfisherManager.shared.retrieveImage(
                with: .provider(provider),
                options: [.processor(processor), .cacheMemoryOnly]
            )
        }
    }

    @Test("A decoding failure has one error code, and a value from which a server derives its response status")
    func statuses() async throws {
        let huge = png(0xEA, checksum: [0x80, 0xD2, 0x75, 0x42])
        for (data, expected) in [
            (Data("<!DOCTYPE html><html></html>".utf8), 415), (Data(), 415), (Data("%PDF-1.7 and so on".utf8), 415),
            (huge, 413), (png(0, checksum: [0, 0, 0, 0]), 422),
        ] {
            let error = try await failure(data)
            #expect(error.errorCode == 4001)
            #expect(status(error) == expected, "\(error)")
        }
        let limit = ImagingError.limitExceeded(
            limit: "maxPixelCount",
            allowed: ImageDecodingLimits.default.maxPixelCount,
            width: 60_000,
            height: 60_000
        )
        #expect(try await failure(huge).imagingError == limit)
    }

    /// Runs in a process of its own: in this one other tests fail by the hundred, and reasons are noted for a while
    /// only.
    @Test("A load that fails has decoded once, and its error knows the reason without decoding again")
    func decodesOnce() async {
        await #expect(processExitsWith: .success) {
            let processors: [any ImageProcessor] = [
                DefaultImageProcessor.default, DownsamplingImageProcessor(size: CGSize(width: 9, height: 9)),
                ThumbnailImageProcessor(size: CGSize(width: 9, height: 9)), BlurImageProcessor(blurRadius: 2),
                DefaultImageProcessor.default |> RoundCornerImageProcessor(cornerRadius: 2), Decoding(),
            ]
            for processor in processors {
                let coder = FailingCoder()
                ImageCodersManager.shared.add(coder)
                let error = try await ImagingErrorTests().failure(Data("\(coder.word) and more".utf8), processor)
                guard case .coderFailed(let reasons)? = error.imagingError,
                    reasons.first?.hasSuffix("attempt 1") == true, error.description.contains("attempt 1"),
                    coder.attemptCount == 1
                else {
                    print(processor, error)
                    exit(1)
                }
            }
            exit(0)
        }
    }

    @Test("A failure with intact bytes carries no imaging error")
    func otherFailures() async throws {
        let error = try await failure(try SampleImage.jpeg(4, 4), Refusal())
        #expect(error.errorCode == 4001 && error.imagingError == nil)
        #expect(error.description.contains("they decode, but processor refusal made no image of them"))
        #expect(KingfisherError.requestError(reason: .emptyRequest).imagingError == nil)
    }
}
