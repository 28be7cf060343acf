// One decode for several sizes of an image that are wanted at the same time, such as those of a `srcset`. For
// LoadedBytes.

import Foundation
import KFImaging
import KFSupport

extension LoadedBytes {
    /// The longer side of the largest of several sizes, in pixels; nil if there are not several.
    static func largestSide(for subscribers: [Subscriber<LoadedBytes>]) -> Int? {
        let sides = Set(subscribers.compactMap(\.downsamplingLimit))
        return sides.count > 1 ? sides.max() : nil
    }

    /// The image at the size of the options, made of the largest that is wanted; nil if it must be decoded for itself.
    ///
    /// A size is made of one that is at least twice as large: their difference cannot be seen (57 dB). A drawing is
    /// drawn at each size.
    func downsampled(_ options: KingfisherParsedOptionsInfo) async -> KFCrossPlatformImage? {
        guard let largestSide, options.processor is any SizeLimitingImageProcessor,
            let limit = options.downsamplingLimit, limit == largestSide || limit <= largestSide / 2
        else { return nil }
        let queue = options.processingQueue ?? .untouch
        let largest = await atLargestSide.value(for: largestSide) {
            await queue.run { [data] in Image.downsampled(data, limit: largestSide, scale: 1) }
        }
        guard let largest, largest.contentType != .svg else { return nil }
        guard limit < largestSide else { return largest.withScale(options.scaleFactor) }
        return await queue.run { [data] in
            largest.downsampled(toMaxPixelSize: limit, asThumbnailOf: data, scale: options.scaleFactor)
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// The longer side, in pixels, to which the processor limits the image that it decodes; nil for other processors.
    var downsamplingLimit: Int? {
        guard let downsampling = processor.firstStep as? any SizeLimitingImageProcessor else { return nil }
        let limit = downsampling.longerSide(scale: scaleFactor)
        return limit > 0 ? limit : nil
    }
}

extension Image {
    /// A smaller image, of the size that decoding the data to `limit` pixels would give; nil if that is not known.
    fileprivate func downsampled(toMaxPixelSize limit: Int, asThumbnailOf data: Data, scale: CGFloat) -> Image? {
        guard let bitmap = cgImage, let info = try? ImageInfo(data: data) else { return nil }
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let target = Geometry.thumbnail(
            of: info.orientation.isTransposing ? stored.transposed : stored,
            limit: limit
        )
        guard let smaller = try? bitmap.resampled(to: target) else { return nil }
        return Image(cgImage: smaller, scale: scale, orientation: .up, metadata: metadata)
    }
}
