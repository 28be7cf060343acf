// The decoded frames of an animated upload, kept while several files are encoded from them. For UploadWork and
// UploadJob.

import Foundation
import KFImaging

/// All frames of an upload, decoded: uncropped and upright, in the decoded size of the plan.
struct UploadFrames: Sendable {
    /// The most bytes that frames take which are kept; those of longer animations are decoded for each file.
    static let maxBytes = 64 << 20

    /// A frame that cannot be decoded is nil.
    private let bitmaps: [Bitmap?]
    private let delays: [TimeInterval]
    private let loopCount: UInt
    private let isDamaged: Bool
    /// The size of the upload as it is displayed, in pixels.
    private let original: PixelSize

    /// Decodes all frames; nil where they take more than ``maxBytes`` or than is allowed, the first cannot be decoded,
    /// or the task is cancelled.
    ///
    /// - Parameters:
    ///   - source: The frames, upright, in their own size.
    ///   - size: The size that they are kept in; where it is larger, their own.
    ///   - original: The size of the upload as it is displayed.
    ///   - limits: How many pixels all of them may have.
    init?(_ source: any ImageFrameSource, size: PixelSize, original: PixelSize, limits: ImageDecodingLimits) {
        let size = size.width > original.width || size.height > original.height ? original : size
        let (count, most) = (source.frameCount, min(Self.maxBytes / 4, limits.maxAnimationPixelCount))
        guard count > 0, size.pixelCount <= most / count else { return nil }
        let box = Thumbnail(width: size.width, height: size.height, mode: .exact, anchor: .center, enlarges: false)
        var bitmaps: [Bitmap?] = []
        for index in 0..<count {
            guard !Task.isCancelled else { return nil }
            bitmaps.append(source.frame(at: index).flatMap { Self.scaled($0, to: box, of: original) })
            guard bitmaps[0] != nil else { return nil }
        }
        self.bitmaps = bitmaps
        delays = (0..<count).map { source.duration(at: $0) }
        (loopCount, isDamaged, self.original) = (source.loopCount, source.isDamaged, original)
    }

    /// The frames in the box of a variant, made when they are asked for; every frame keeps the same part.
    func scaled(to box: Thumbnail) -> any ImageFrameSource {
        let first = bitmaps.first.flatMap { $0 }.map { Image(cgImage: $0) }
        return Scaled(frames: self, box: first?.resolvingSmartAnchor(of: box) ?? box)
    }

    private static func scaled(_ bitmap: Bitmap, to box: Thumbnail, of original: PixelSize) -> Bitmap? {
        var box = box
        box.space = .linear
        return try? Image(cgImage: bitmap).thumbnail(box, ofOriginal: original).cgImage
    }

    /// The frames in one box.
    private struct Scaled: ImageFrameSource {
        let frames: UploadFrames
        let box: Thumbnail

        /// None: no file holds these frames.
        var data: Data? { nil }
        var frameCount: Int { frames.bitmaps.count }
        var loopCount: UInt { frames.loopCount }
        var isDamaged: Bool { frames.isDamaged }

        func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
            guard frames.bitmaps.indices.contains(index), let bitmap = frames.bitmaps[index] else { return nil }
            return UploadFrames.scaled(bitmap, to: box, of: frames.original)?.limited(to: maxSize)
        }

        func duration(at index: Int) -> TimeInterval {
            frames.delays.indices.contains(index) ? frames.delays[index] : 0
        }
    }
}
