// Several sizes of one image that are wanted at the same time are made of one decode.

import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

@Suite(.timeLimit(.minutes(5))) struct SeveralSizesTests {
    /// The images of several sizes, asked for at the same time.
    private func load(_ rig: Rig, _ data: Data, sides: [Int]) async throws -> [Int: KFCrossPlatformImage] {
        let gate = Gate()
        rig.server.route("/a", TestResponse(body: data).with { $0.gate = gate })
        async let images = withThrowingTaskGroup(of: (Int, KFCrossPlatformImage).self) { group in
            for side in sides {
                group.addTask {
                    let processor = DownsamplingImageProcessor(size: CGSize(width: side, height: side))
                    let options: KingfisherOptionsInfo = [.processor(processor), .waitForCache]
                    let result = try await rig.manager.retrieveImage(with: rig.server.url("/a"), options: options)
                    return (side, result.image)
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        let transfers = rig.manager.downloader.loader.transfers
        while transfers.all.first?.subscribers.count ?? 0 < sides.count { await Task.yield() }
        gate.open()
        return try await images
    }

    @Test("Each size is that of its own decode, and looks like it", arguments: [false, true])
    func sizes(isTurned: Bool) async throws {
        // An EXIF block with the orientation "right", directly after the start of the file.
        let tag: [UInt8] = [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1]
        let entry: [UInt8] = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
        var file = try SampleImage.jpeg(1001, 667)
        if isTurned { file.insert(contentsOf: tag + entry, at: 2) }
        let data = file
        try await Rig.run { rig in
            let images = try await load(rig, data, sides: [801, 400, 350, 133])
            for (side, image) in images {
                let alone = try #require(Image.downsampled(data, limit: side, scale: 1))
                #expect(image.scale == alone.scale && image.contentType == alone.contentType, "\(side)")
                let (one, other) = (try #require(image.cgImage), try #require(alone.cgImage))
                let outcome = ImageComparison.compare(one, other)
                #expect(outcome.isAlike, "\(side): \(outcome)")
            }
            #expect(rig.server.count("/a") == 1)
        }
    }

    @Test("The largest of several sizes that are wanted is known when the bytes arrive") func largest() {
        func limits(_ sides: [Int?]) -> Int? {
            LoadedBytes.largestSide(
                for: sides.map { side in
                    var subscriber = Subscriber<LoadedBytes>(observer: nil, priority: 0.5)
                    subscriber.downsamplingLimit = side
                    return subscriber
                }
            )
        }
        #expect(limits([100, 300, nil, 200]) == 300)
        #expect(limits([100, 100]) == nil && limits([100, nil]) == nil && limits([]) == nil)
    }

    @Test("Other sizes are made of the largest, down from half of it; others are decoded") func sharing() async throws {
        let data = try SampleImage.jpeg(600, 400)
        let bytes = LoadedBytes(data, largestSide: 400)
        func options(_ processor: any ImageProcessor) -> KingfisherParsedOptionsInfo {
            KingfisherParsedOptionsInfo([.processor(processor), .scaleFactor(2)])
        }
        func downsampled(_ side: CGFloat) async -> KFCrossPlatformImage? {
            await bytes.downsampled(options(DownsamplingImageProcessor(size: CGSize(width: side, height: side))))
        }
        let largest = try #require(await downsampled(200))
        #expect(largest.pixelWidth == 400 && largest.scale == 2)
        let half = try #require(await downsampled(100))
        #expect(half.pixelWidth == 200 && half.pixelHeight == 133 && half.scale == 2)
        for side in [101.0, 300] { #expect(await downsampled(side) == nil) }
        #expect(await bytes.downsampled(options(BlurImageProcessor(blurRadius: 2))) == nil)
    }
}
