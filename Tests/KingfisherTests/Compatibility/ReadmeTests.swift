// What README.md says of the library, as in a user's file, with `import Kingfisher` and its public interface only.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test("The first example of the README works") func firstExample() async throws {
        try await withTemporaryDirectory { directory in
            let server = try await TestServer.start()
            let url = server.route("/photo.jpg", .data(try SampleImage.jpeg(300, 200)))
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "readme"),
                cache: try ImageCache(name: "readme", cacheDirectoryURL: directory)
            )

            let size = CGSize(width: 200, height: 200)
            let processor =
                ThumbnailImageProcessor(size: size, mode: .fill, anchor: .smart)
                |> RoundCornerImageProcessor(cornerRadius: 20)
            let options: KingfisherOptionsInfo = [
                .processor(processor), .cacheSerializer(FormatIndicatedCacheSerializer.png),
            ]
            let result = try await manager.retrieveImage(with: url, options: options)
            #expect(result.image.size == size)
            #expect(result.cacheType == .none)
            #expect(try await manager.retrieveImage(with: url, options: options).cacheType == .memory)
            try result.image.pngData()?.write(to: directory.appendingPathComponent("thumbnail.png"))

            let chained = KF.url(url).thumbnail(size: size, mode: .fill, anchor: .smart)
                .roundCorner(radius: .point(20))
            #expect(chained.options.processor.identifier == processor.identifier)
            await withCheckedContinuation { done in
                manager.retrieveImage(with: url, options: [.callbackQueue(.untouch)]) { result in
                    #expect((try? result.get()) != nil)
                    done.resume()
                }
            }
            await server.stop()
        }
    }

    @Test("The bytes of a result are those that were loaded, or the serializer's of a cached image")
    func bytesOfResults() async throws {
        try await Rig.run { rig in
            let (url, photo) = (rig.server.url("/photo.jpg"), try SampleImage.jpeg(300, 200))
            rig.server.route("/photo.jpg", .data(photo))
            let small = ThumbnailImageProcessor(size: CGSize(width: 20, height: 20), mode: .fill)
            let options: KingfisherOptionsInfo = [.processor(small), .waitForCache]
            let loaded = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(loaded.image.size.width == 20 && loaded.data() == photo)
            let cached = try await rig.manager.retrieveImage(with: url, options: options)
            #expect(cached.cacheType == .memory && cached.data().map(ImageContentType.init(sniffing:)) == .png)
            // Another serializer finds the same entry.
            let other = options + [.cacheSerializer(FormatIndicatedCacheSerializer.webP)]
            let found = try await rig.manager.retrieveImage(with: url, options: other)
            #expect(found.cacheType == .memory && found.data().map(ImageContentType.init(sniffing:)) == .webp)
            #expect(rig.files.count == 1 && rig.server.count("/photo.jpg") == 1)
        }
    }
}
