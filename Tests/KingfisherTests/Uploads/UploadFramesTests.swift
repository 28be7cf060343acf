// The frames of animated uploads: decoded once for all files, and the same as those of a file that is made alone.

import Foundation
import KFImaging
@_spi(Server) import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Parts of a landscape that move, of which some cannot be decoded.
private final class MovingFrames: ImageFrameSource {
    let size: PixelSize
    let frameCount: Int
    let broken: Set<Int>
    let log = DecodeLog()
    let loopCount: UInt = 3
    var data: Data? { nil }
    var isDamaged: Bool { !broken.isEmpty }

    init(_ size: PixelSize = PixelSize(90, 60), count: Int = 4, broken: Set<Int> = []) {
        (self.size, frameCount, self.broken) = (size, count, broken)
    }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard (0..<frameCount).contains(index) else { return nil }
        _ = log.frame(index, PixelSize(1, 1), copyNumber: 0, limit: maxSize)
        guard !broken.contains(index) else { return nil }
        let (width, height) = (size.width, size.height)
        let seed = index + 1
        return Image.painted(width: width, height: height, Landscape(seed: seed).painting(width: width, height: height))
            .cgImage
    }

    func duration(at index: Int) -> TimeInterval { 0.1 * TimeInterval(index + 1) }
}

@Suite struct UploadFramesTests {
    private var options: UploadOptions {
        var options = UploadOptions()
        options.limits.isolation = .inProcess
        return options
    }

    private func kept(
        _ source: MovingFrames,
        _ size: PixelSize = PixelSize(45, 30),
        maxPixelCount: Int = .max
    ) -> UploadFrames? {
        var limits = options.limits
        limits.maxAnimationPixelCount = maxPixelCount
        return UploadFrames(source, size: size, original: source.size, limits: limits)
    }

    private func box(_ width: Int, _ height: Int = 0, _ mode: ThumbnailMode = .fit) -> Thumbnail {
        Thumbnail(width: width, height: height, mode: mode, anchor: .smart, enlarges: false)
    }

    @Test("Every frame is decoded once, however many sizes are made")
    func once() throws {
        let source = MovingFrames()
        let frames = try #require(kept(source))
        for box in [box(40), box(10), box(12, 12, .fill)] {
            let scaled = frames.scaled(to: box)
            let sizes = (0..<4).map { scaled.frame(at: $0)?.size }
            #expect(sizes == [PixelSize?](repeating: box.kept(of: box.scaled(source.size)), count: 4))
        }
        #expect(source.log.decoded == [0, 1, 2, 3])
    }

    @Test("Frames keep their times, and what is missing stays missing and is said")
    func missing() throws {
        let scaled = try #require(kept(MovingFrames(broken: [2]))).scaled(to: box(10))
        #expect((0..<5).map { scaled.frame(at: $0) != nil } == [true, true, false, true, false])
        #expect(scaled.frameCount == 4 && scaled.loopCount == 3 && scaled.isDamaged)
        #expect(scaled.duration(at: 1) == 0.2 && scaled.duration(at: 4) == 0)
        #expect(try !#require(kept(MovingFrames())).scaled(to: box(10)).isDamaged)
    }

    @Test("Without a first frame, and where they take more than is kept or allowed, none is")
    func none() {
        #expect(kept(MovingFrames(broken: [0])) == nil && kept(MovingFrames(count: 0)) == nil)
        let source = MovingFrames(PixelSize(UploadFrames.maxBytes / 4 / 3 + 1, 1), count: 3)
        #expect(kept(source, source.size) == nil && source.log.decoded.isEmpty)
        #expect(kept(MovingFrames(), maxPixelCount: 4 * 45 * 30) != nil)
        #expect(kept(MovingFrames(), maxPixelCount: 4 * 45 * 30 - 1) == nil)
        // They are never kept larger than they are.
        #expect(kept(MovingFrames(), PixelSize(900, 600), maxPixelCount: 4 * 90 * 60) != nil)
    }

    @Test("In a task that is cancelled no frame is decoded") func cancelled() async {
        let source = MovingFrames()
        let isKept = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return kept(source) != nil
        }.value
        #expect(!isKept && source.log.decoded.isEmpty)
    }

    /// Sizes of one animation.
    private enum Sizes: String, CaseIterable {
        case halves, close, enlarged, parts

        var variants: [UploadVariant] {
            let widths =
                switch self {
                case .halves: [40, 20, 7]
                case .close: [70, 60]
                case .enlarged: [180, 80]
                case .parts: [30, 20]
                }
            return widths.map { width in
                var variant = UploadVariant("w\(width)", width: width, encodings: [ImageEncoding(.png)])
                variant.enlarges = self == .enlarged
                if self == .parts { (variant.height, variant.mode, variant.anchor) = (width, .fill, .point(.zero)) }
                return variant
            }
        }
    }

    @Test("Files of one animation have the frames that each has alone", arguments: Sizes.allCases)
    private func likeAlone(sizes: Sizes) async throws {
        let (data, variants) = (try Codecs.encode(MovingFrames(), as: .png), sizes.variants)
        let together = try await Upload.processing(data, into: variants, options: options)
        for (variant, file) in zip(variants, together.files) {
            let alone = try await Upload.processing(data, into: [variant], options: options).files[0]
            let sources = try [file, alone].map { try #require(try Codecs.frameSource(of: $0.image.data)) }
            #expect(sources.map(\.loopCount) == [3, 3] && sources.map(\.frameCount) == [4, 4])
            for index in 0..<4 {
                let bitmaps = try sources.map { try #require($0.frame(at: index)) }
                #expect(try #require(ImageComparison.psnr(bitmaps[0], bitmaps[1])) >= 50, "\(variant.name) \(index)")
                #expect(sources[0].duration(at: index) == sources[1].duration(at: index))
            }
        }
    }

    @Test("Of a damaged frame every file says so, and stills beside do not", arguments: [true, false])
    func damage(isAllowed: Bool) async throws {
        var (data, options) = (try Data(contentsOf: Catalogue.url("animated.gif")), options)
        // The pixels of the last frame begin with a code that stands for nothing.
        data.replaceSubrange(data.count - 17..<data.count - 2, with: repeatElement(0xFF, count: 15))
        options.allowsDamage = isAllowed
        let encodings = [ImageEncoding(.webp), ImageEncoding(.gif), ImageEncoding(.jpeg)]
        let variant = UploadVariant("a", width: 20, encodings: encodings)
        do {
            let upload = try await Upload.processing(data, into: [variant], options: options)
            #expect(isAllowed && upload.files.map(\.image.isDamaged) == [true, true, false])
            #expect(upload.files.map { $0.image.frameCount > 1 } == [true, true, false])
        } catch {
            #expect(!isAllowed && error.responseStatus == 422 && error.code == "damaged")
        }
    }
}
