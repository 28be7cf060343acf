// Blur and colours of whole images, for processors.

extension Image {
    /// The displayed image, blurred; the radius is in pixels.
    ///
    /// - Returns: The image itself when nothing is to be blurred; nil when there is not enough memory.
    package func blurred(radius: Double) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.blurred(radius: radius) }
    }

    /// The displayed image, blurred by a Gaussian of a standard deviation in pixels, which is kept.
    ///
    /// - Returns: The image itself when nothing is to be blurred; nil when there is not enough memory.
    package func gaussianBlurred(sigma: Double) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.gaussianBlurred(sigma: sigma) }
    }

    /// The displayed image, blurred by libvips' Gaussian, which ends at a fifth of its height.
    ///
    /// - Returns: The image itself when nothing is to be blurred; nil when there is not enough memory.
    package func cutGaussianBlurred(sigma: Double) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.cutGaussianBlurred(sigma: sigma) }
    }

    /// The displayed image with sharper edges, as libvips makes them.
    ///
    /// - Returns: The image itself when nothing is to be sharpened; nil when there is not enough memory.
    package func sharpenedInLightness(sigma: Double) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.sharpenedInLightness(sigma: sigma) }
    }

    /// The displayed image in adjusted colours.
    ///
    /// - Returns: The image itself when nothing is to be changed; nil when there is not enough memory.
    package func adjusted(_ adjustment: ColorAdjustment) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.adjusted(adjustment) }
    }

    /// The displayed image under a colour.
    ///
    /// - Returns: The image itself when nothing is to be changed; nil when there is not enough memory.
    package func tinted(with color: Color, in space: WorkingSpace) -> Image? {
        redrawn { bitmap throws(ImagingError) in try bitmap.tinted(with: color, in: space) }
    }

    /// The displayed image as a filter changes it.
    ///
    /// - Returns: The image itself when the filter returns nil, or when there is not enough memory.
    package func filtered(in space: WorkingSpace, _ transform: (FilterImage) -> FilterImage?) -> Image {
        guard let bitmap = (try? upright())?.cgImage, let source = FilterImage(bitmap, in: space),
            let result = try? transform(source)?.bitmap()
        else { return still }
        return derived(result)
    }
}
