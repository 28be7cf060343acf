// How images are made of data that may be animated: whole, on demand, or the first frame alone.

package import Foundation

extension Image {
    /// The image some bytes make: an animation if they hold one, else a still; nil when they cannot be decoded.
    ///
    /// - Parameters:
    ///   - data: The encoded bytes; they alone decide what format it is.
    ///   - options: How an animation is to be made.
    ///   - limits: The limits beyond which data is refused.
    /// - Returns: The image.
    package static func decoded(
        from data: Data,
        options: ImageCreatingOptions,
        limits: ImageDecodingLimits = .default
    ) -> Image? {
        try? decode(data, options: options, limits: limits)
    }

    /// The same, with the reason when the bytes cannot be decoded.
    ///
    /// - Throws: ``ImagingError``.
    static func decode(
        _ data: Data,
        options: ImageCreatingOptions,
        limits: ImageDecodingLimits
    ) throws(ImagingError) -> Image {
        do throws(ImagingError) {
            if let source = try Codecs.frameSource(of: data, limits: limits),
                let image = animated(source, options: options, limits: limits)
            {
                image.updateMetadata {
                    $0.contentType = ImageContentType(sniffing: data)
                    $0.decodedFrom = ContentFingerprint(data)
                }
                return image
            }
        } catch {
            switch error {
            case .malformed, .unsupported: break  // there may be a still in it
            case .tooManyFrames where options.onlyFirstFrame, .limitExceeded where options.onlyFirstFrame: break
            default: throw Codecs.recorded(error, of: data, limits)
            }
        }
        return try Codecs.decode(data, options: DecodingOptions(scale: options.scale, limits: limits))
    }

    /// An image of frames.
    ///
    /// - Parameters:
    ///   - source: The frames.
    ///   - options: Which of them are decoded now.
    ///   - baseImage: The image that represents an animation whose frames are decoded on demand; nil means its first
    ///     frame.
    ///   - limits: The number of pixels above which frames are decoded on demand although all were to be decoded at
    ///     once.
    /// - Returns: The image; nil when there is no first frame, or when the task is cancelled before all frames are
    ///   decoded that are to be.
    package static func animated(
        _ source: any ImageFrameSource,
        options: ImageCreatingOptions,
        baseImage: Image? = nil,
        limits: ImageDecodingLimits = .default
    ) -> Image? {
        let count = source.frameCount
        guard count > 0 else { return nil }
        let isLazy = !options.onlyFirstFrame && !options.preloadAll
        guard
            let poster = (isLazy ? baseImage?.withScale(options.scale) : nil)
                ?? source.frame(at: 0).map({ Image(cgImage: $0, scale: options.scale) })
        else { return nil }
        var metadata = poster.metadata
        metadata.frameCount = count
        metadata.animatedData = source.data
        metadata.creatingOptions = options
        if !options.onlyFirstFrame {
            if options.preloadAll, limits.permits(count, framesOf: poster) {
                guard let frames = preloaded(source, poster, options) else { return nil }
                metadata.preloaded = frames
            } else {
                metadata.frameSource = source
            }
        }
        metadata.isDamaged = source.isDamaged
        return Image(
            cgImage: poster.cgImage,
            scale: poster.scale,
            orientation: poster.imageOrientation,
            metadata: metadata
        )
    }

    /// Every frame that can be decoded; nil in a task that is cancelled.
    private static func preloaded(
        _ source: any ImageFrameSource,
        _ first: Image,
        _ options: ImageCreatingOptions
    ) -> PreloadedFrames? {
        var frames = PreloadedFrames(images: [first], delays: [source.duration(at: 0)], duration: options.duration)
        frames.loopCount = source.loopCount
        for index in 1..<max(1, source.frameCount) {
            guard !Task.isCancelled else { return nil }
            guard let frame = source.frame(at: index) else { continue }
            frames.images.append(Image(cgImage: frame, scale: options.scale))
            frames.delays.append(source.duration(at: index))
        }
        if options.duration <= 0 {
            frames.duration = source.frameCount == 1 ? .infinity : frames.delays.reduce(0, +)
        }
        return frames
    }
}

extension ImageDecodingLimits {
    /// Whether so many frames as large as `image` may be decoded at once.
    fileprivate func permits(_ count: Int, framesOf image: Image) -> Bool {
        let size = PixelSize(image.pixelWidth, image.pixelHeight)
        let (pixels, overflow) = size.pixelCount.multipliedReportingOverflow(by: count)
        return !overflow && pixels <= maxAnimationPixelCount
    }
}
