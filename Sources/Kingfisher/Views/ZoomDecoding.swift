// How large ZoomView has its images decoded: no larger than they are shown, with the size of the original beside it.

import Foundation
import KFImaging

/// Decodes stills at a size, and remembers the size that they have; animations are decoded as they are.
///
/// As a processor it is given what is loaded, as a serializer the original's bytes in the cache: these are never
/// decoded larger than necessary either.
struct ZoomDecoding: ImageProcessor, CacheSerializer, Hashable {
    let size: ViewImageSize

    var identifier: String {
        "com.onevcat.Kingfisher.ZoomDecoding(\(size.width)×\(size.height) px, \(size.mode.rawValue))"
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        switch item {
        case .data(let data): decoded(data, options)
        case .image(let image): reduced(image, options)
        }
    }

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        DefaultCacheSerializer.default.data(with: image, original: original)
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        decoded(data, options)
    }

    private var box: Thumbnail {
        Thumbnail(width: size.width, height: size.height, mode: size.mode, anchor: .center, enlarges: false)
    }

    private func decoded(_ data: Data, _ options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        guard let info = try? Codecs.info(of: data), info.frameCount <= 1 else {
            return DefaultImageProcessor.default.process(item: .data(data), options: options)
        }
        var decoding = DecodingOptions(scale: options.scaleFactor, limits: options.limits)
        decoding.thumbnail = box
        let image = try? Codecs.decode(data, options: decoding)
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let displayed = info.orientation.isTransposing ? stored.transposed : stored
        image?.updateMetadata { $0.reducedFrom = displayed }
        return image
    }

    /// An image that was decoded already: by this, as a serializer, or for another load.
    private func reduced(
        _ image: KFCrossPlatformImage,
        _ options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        guard image.metadata.reducedFrom == nil, !image.isAnimated else { return image }
        let result = image.thumbnail(box, scale: options.scaleFactor)
        let displayed = image.displayedPixels
        result?.updateMetadata { $0.reducedFrom = displayed }
        return result
    }
}

extension Source {
    /// The file that has the bytes already, so that the cache need not keep them; nil for other sources.
    var localFile: URL? {
        if case .provider(let provider as LocalFileImageDataProvider) = self { provider.fileURL } else { fileURL }
    }
}

extension KFCrossPlatformImage {
    /// The size of the image as it is displayed, in pixels.
    var displayedPixels: PixelSize {
        let stored = PixelSize(pixelWidth, pixelHeight)
        return imageOrientation.isTransposing ? stored.transposed : stored
    }
}
