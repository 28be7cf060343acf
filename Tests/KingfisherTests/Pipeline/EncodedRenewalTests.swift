// Encoded results that are renewed in the background: they have all that they had before.

import Foundation
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct EncodedRenewalTests {
    private static let stale = ["Cache-Control": "max-age=60, stale-while-revalidate=1000", "Age": "100"]
    private static let fresh = ["Cache-Control": "max-age=1000"]
    private let respecting: KingfisherOptionsInfo = [.respectCacheControl, .waitForCache]

    /// A file that is no longer fresh is used, and renewed in the background: the renewed one, as it is in memory.
    private func renewed(
        _ rig: Rig,
        _ options: KingfisherOptionsInfo,
        as encoding: ImageEncoding,
        _ gate: Gate
    ) async throws -> EncodedImage {
        let source = Source.network(rig.server.url("/a"))
        let stale = try await rig.manager.retrieveEncoded(with: source, options: options, as: encoding)
        try #require(stale.isRenewedInBackground)
        gate.open()
        let request = rig.manager.encodedRequest(with: source, options: options, as: encoding)
        while true {
            if let file = rig.manager.encodedInMemory(request) { return file }
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("A file that is renewed has the cache metadata of its response in memory", arguments: [false, true])
    func cacheMetadata(isReplaced: Bool) async throws {
        try await Rig.run { rig in
            let gate = Gate(), etag = isReplaced ? "\"2\"" : "\"1\""
            let first = TestResponse(headers: Self.stale, body: try SampleImage.png()).with { $0.etag = "\"1\"" }
            let second = TestResponse(headers: Self.fresh, body: try SampleImage.png(32, 32)).with {
                ($0.etag, $0.gate) = (etag, gate)
            }
            rig.server.route("/a", sequence: [first, second])
            _ = try await rig.manager.retrieveEncoded(with: rig.server.url("/a"), options: respecting)
            let file = try await renewed(rig, respecting, as: ImageEncoding(), gate)
            #expect(file.pixelWidth == (isReplaced ? 32 : 64))
            #expect(file.cacheMetadata?.eTag == etag && file.cacheMetadata?.cacheControl == "max-age=1000")
        }
    }

    @Test("A file that is renewed keeps EXIF when it is made of a cached original") func metadata() async throws {
        try await Rig.run { rig in
            var options = ImageEncodingOptions()
            // One directory with one field: the maker, "abc".
            options.metadata.exif = Data(
                [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x0F, 1, 2, 0, 4, 0, 0, 0, 0x61, 0x62, 0x63, 0, 0, 0, 0, 0]
            )
            let body = try Codecs.encode(SampleImage.gradient(), as: .jpeg, options)
            let gate = Gate()
            let responses = [Self.stale, Self.fresh].map {
                TestResponse(headers: $0, body: body).with { $0.etag = "\"1\"" }
            }
            rig.server.route("/a", sequence: [responses[0], responses[1].with { $0.gate = gate }])
            _ = try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: respecting)
            var keeping = ImageEncoding(.webp)
            keeping.keptMetadata = .exif
            // The disk has the original alone, so that the renewed file is made of it, too.
            let file = try await renewed(rig, respecting + [.storeCacheLayers(.memory)], as: keeping, gate)
            #expect(file.data.range(of: Data("abc".utf8)) != nil)
            #expect(file.cacheMetadata?.eTag == "\"1\"")
        }
    }
}

extension EncodedImage {
    fileprivate var isRenewedInBackground: Bool { if case .inBackground? = revalidation { true } else { false } }
}
