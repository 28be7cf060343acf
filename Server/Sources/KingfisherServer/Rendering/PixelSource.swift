// Pixels at the size that they are needed in, of a file or of an image. For PlanProcessor, its steps and watermarks.

import Foundation
import KFImageURLs
@_spi(Server) import Kingfisher

/// Where the pixels of a result come from.
enum PixelSource: Sendable {
    /// Bytes that are decoded at the size that is needed.
    case file(Data, ImageInfo)
    /// Pixels that are there: upright, or as they are stored if the plan ignores the orientation.
    case pixels(Image)

    /// As the plan sees it.
    var size: PixelSize {
        switch self {
        case .file(_, let info): info.displayedSize
        case .pixels(let image): PixelSize(width: image.pixelWidth, height: image.pixelHeight)
        }
    }

    /// Whether it has no pixels of its own, and loses nothing when it becomes larger.
    var isDrawing: Bool {
        if case .file(_, let info) = self { info.contentType == .svg } else { false }
    }

    /// All of it, or nearly all, in another size.
    func image(
        of size: PixelSize,
        covering coverage: CGSize = CGSize(width: 1, height: 1),
        in space: WorkingSpace,
        _ options: KingfisherParsedOptionsInfo
    ) -> Image? {
        let scaling = ThumbnailImageProcessor(size: size.cgSize, mode: .exact, space: space)
        switch self {
        case .file(let data, _): return scaling.process(item: .data(data), covering: coverage, options: options)
        case .pixels(let image):
            return size == self.size
                ? image : scaling.process(item: .image(image), covering: coverage, options: options)
        }
    }
}

extension ImageInfo {
    /// The size after turning the image upright.
    var displayedSize: PixelSize {
        let size = PixelSize(width: pixelWidth, height: pixelHeight)
        return orientation.exif >= 5 ? size.transposed : size
    }
}

extension PixelSize {
    var cgSize: CGSize { CGSize(width: width, height: height) }
}
