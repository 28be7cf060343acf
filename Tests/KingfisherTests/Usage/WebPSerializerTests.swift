// A processor and a serializer written by the user, for WebP.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite @MainActor struct WebPSerializerTests {
    /// Decodes WebP, and hands images on as they are.
    struct WebPProcessor: ImageProcessor {
        static let `default` = WebPProcessor()
        let identifier = "WebPProcessor"

        func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            switch item {
            case .image(let image): image
            case .data(let data): KFCrossPlatformImage(webPData: data)
            }
        }
    }

    /// Keeps images on disk as WebP.
    struct WebPCacheSerializer: CacheSerializer {
        static let `default` = WebPCacheSerializer()
        private init() {}

        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { image.webPData }

        func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
            KFCrossPlatformImage(webPData: data)
        }
    }

    @Test("An image view shows a WebP image through a processor and a serializer of the user's, from every place")
    func webP() async throws {
        try await Rig.run { rig in
            let bytes = try #require(SampleImage.gradient(40, 30).webPData)
            rig.server.route("/123.webp", .data(bytes, type: "image/webp"))
            let imageView = KFCrossPlatformImageView()
            let url = rig.server.url("/123.webp?e=1575537931&token=7n8b:L1_M=&attname=")
            for place in [CacheType.none, .memory, .disk] {
                if place == .disk { rig.cache.clearMemoryCache() }
                let result = await withCheckedContinuation { done in
                    imageView.kf.setImage(
                        with: url,
                        options: rig.viewOptions + [
                            .processor(WebPProcessor.default), .cacheSerializer(WebPCacheSerializer.default),
                            .waitForCache,
                        ]
                    ) { done.resume(returning: $0) }
                }
                #expect(try result.get().cacheType == place)
                #expect(imageView.image?.size == CGSize(width: 40, height: 30))
            }
            let path = rig.cache.cachePath(forKey: url.cacheKey, processorIdentifier: "WebPProcessor")
            let stored = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(stored.prefix(4) == Data("RIFF".utf8) && stored.dropFirst(8).prefix(4) == Data("WEBP".utf8))
            #expect(rig.server.count("/123.webp") == 1)
        }
    }

    @Test("Bytes of another format are no image for that processor") func otherFormat() async throws {
        try await Rig.run { rig in
            rig.server.route("/a.png", .data(try SampleImage.png()))
            let options: KingfisherOptionsInfo = [.processor(WebPProcessor.default)]
            let error = await failure {
                try await rig.manager.retrieveImage(with: rig.server.url("/a.png"), options: options)
            }
            #expect(error?.errorCode == 4001)
        }
    }
}
