// The examples of README.md, as in a user's file, with `import Kingfisher` and its public interface only.

import Foundation
import Kingfisher
import KingfisherTestSupport
import Testing

@Suite struct ReadmeTests {
    @Test("The first example of the README works") func firstExample() async throws {
        try await withTemporaryDirectory { directory in
            let server = try await TestServer.start()
            server.route("/photo.jpg", .data(try SampleImage.jpeg(300, 200)))
            let manager = KingfisherManager(
                downloader: ImageDownloader(name: "readme"),
                cache: try ImageCache(name: "readme", cacheDirectoryURL: directory)
            )

            let url = server.url("/photo.jpg")
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
}
