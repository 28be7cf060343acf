// Chained methods that are short for options with a value: processors, serializers, retries.

public import Foundation
import KFImaging

extension KFOptionSetter {
    /// Retries failed loads after a delay.
    ///
    /// - Parameters:
    ///   - maxCount: How many retries are made at most.
    ///   - interval: How long to wait before each.
    /// - Returns: The changed copy.
    public func retry(maxCount: Int, interval: DelayRetryStrategy.Interval = .seconds(3)) -> Self {
        retry(DelayRetryStrategy(maxRetryCount: maxCount, retryInterval: interval))
    }

    /// Uses processors one after the other; an empty list means the default one.
    ///
    /// - Parameter processors: The first one runs first.
    /// - Returns: The changed copy.
    public func setProcessors(_ processors: [any ImageProcessor]) -> Self {
        guard let first = processors.first else { return setProcessor(DefaultImageProcessor.default) }
        return setProcessor(processors.dropFirst().reduce(first, |>))
    }

    /// Runs another processor after those set before.
    ///
    /// - Parameter processor: The processor that runs last.
    /// - Returns: The changed copy.
    public func appendProcessor(_ processor: any ImageProcessor) -> Self {
        setProcessor(options.processor |> processor)
    }

    /// Appends a ``RoundCornerImageProcessor``.
    public func roundCorner(
        radius: Radius,
        targetSize: CGSize? = nil,
        roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil,
        border: Border? = nil
    ) -> Self {
        appendProcessor(
            RoundCornerImageProcessor(
                radius: radius,
                targetSize: targetSize,
                roundingCorners: corners,
                backgroundColor: backgroundColor,
                border: border
            )
        )
    }

    /// Appends a ``ResizingImageProcessor``.
    public func resizing(
        referenceSize: CGSize,
        mode: ContentMode = .none,
        filter: ResamplingFilter = .automatic,
        space: WorkingSpace = .encoded
    ) -> Self {
        appendProcessor(
            ResizingImageProcessor(referenceSize: referenceSize, mode: mode, filter: filter, space: space)
        )
    }

    /// Decodes at a reduced size with a ``DownsamplingImageProcessor``.
    ///
    /// It needs the data, so it replaces the default processor; after any other it is appended.
    /// - Parameter size: The size in points; only its longer side counts.
    /// - Returns: The changed copy.
    public func downsampling(size: CGSize) -> Self {
        let processor = DownsamplingImageProcessor(size: size)
        return options.processor.identifier.isEmpty ? setProcessor(processor) : appendProcessor(processor)
    }

    /// Decodes at a reduced size with a ``ThumbnailImageProcessor``.
    ///
    /// It needs the data, so it replaces the default processor; after any other it is appended.
    /// - Parameters:
    ///   - size: The box in points; a side of 0 follows from the other one and the proportions of the image.
    ///   - mode: How the image is fitted to the box.
    ///   - anchor: The part that `ThumbnailMode.fill` keeps.
    ///   - enlarges: Whether smaller images are enlarged; with `ThumbnailMode.exact` they always are.
    ///   - space: The numbers that become a mean; see ``ThumbnailImageProcessor``.
    /// - Returns: The changed copy.
    public func thumbnail(
        size: CGSize,
        mode: ThumbnailMode = .fit,
        anchor: ThumbnailAnchor = .center,
        enlarges: Bool = false,
        space: WorkingSpace = .linear
    ) -> Self {
        let processor = ThumbnailImageProcessor(
            size: size,
            mode: mode,
            anchor: anchor,
            enlarges: enlarges,
            space: space
        )
        return options.processor.identifier.isEmpty ? setProcessor(processor) : appendProcessor(processor)
    }

    /// Stores the image in one format.
    ///
    /// - Parameters:
    ///   - format: The format; an unknown one means PNG.
    ///   - jpegCompressionQuality: From 0 to 1; nil means 1.
    /// - Returns: The changed copy.
    public func serialize(as format: ImageFormat, jpegCompressionQuality: CGFloat? = nil) -> Self {
        switch format {
        case .JPEG: serialize(by: FormatIndicatedCacheSerializer.jpeg(compressionQuality: jpegCompressionQuality ?? 1))
        case .GIF: serialize(by: FormatIndicatedCacheSerializer.gif)
        case .PNG, .unknown: serialize(by: FormatIndicatedCacheSerializer.png)
        }
    }

    /// Changes the delivered image.
    ///
    /// - Parameter block: Changes its argument; when it throws, the image is delivered unchanged.
    /// - Returns: The changed copy.
    public func imageModifier(_ block: @escaping @Sendable (inout KFCrossPlatformImage) throws -> Void) -> Self {
        imageModifier(
            AnyImageModifier {
                var image = $0
                try block(&image)
                return image
            }
        )
    }
}
