// `image.kf`: blur, colours and filters on images at hand; and for the image server blur and sharpening as libvips does
// them.

public import Foundation
public import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image, blurred as by a Gaussian filter.
    ///
    /// - Parameter radius: The standard deviation in pixels; the image is blurred only if it is above 0.
    /// - Returns: The new image; the image itself when there is nothing to do or not enough memory.
    public func blurred(withRadius radius: CGFloat) -> KFCrossPlatformImage {
        base.blurred(radius: Double(radius)) ?? base
    }

    /// The image under a colour; transparent pixels are tinted too.
    ///
    /// - Parameters:
    ///   - color: The colour; its opacity says how much of the image is left.
    ///   - workingSpace: The space the calculation is done in.
    /// - Returns: The new image; the image itself when there is nothing to do or not enough memory.
    public func tinted(
        with color: KFCrossPlatformColor,
        workingSpace: WorkingSpace = .linear
    ) -> KFCrossPlatformImage {
        base.tinted(with: color, in: workingSpace) ?? base
    }

    /// A colour blended with the image.
    ///
    /// - Parameters:
    ///   - color: The colour, which is the source; its opacity counts.
    ///   - blendMode: How it and the image, the destination, are combined. `CGBlendMode/sourceIn` leaves nothing but
    ///     the colour, where the image is.
    /// - Returns: The new image; the image itself when it is empty or there is not enough memory.
    public func tinted(with color: KFCrossPlatformColor, blendMode: CGBlendMode) -> KFCrossPlatformImage {
        base.tinted(with: color, blendMode) ?? base
    }

    /// The image in changed colours.
    ///
    /// - Parameters:
    ///   - brightness: The number added to every component; 0 changes nothing.
    ///   - contrast: The factor for distances from the middle; 1 changes nothing.
    ///   - saturation: The factor for distances from grey; 1 changes nothing, 0 leaves greys.
    ///   - inputEV: How many times the light is doubled; 0 changes nothing.
    ///   - workingSpace: The space the calculation is done in.
    /// - Returns: The new image; the image itself when there is nothing to do or not enough memory.
    public func adjusted(
        brightness: CGFloat,
        contrast: CGFloat,
        saturation: CGFloat,
        inputEV: CGFloat,
        workingSpace: WorkingSpace = .linear
    ) -> KFCrossPlatformImage {
        let adjustment = ColorAdjustment(
            brightness: Double(brightness),
            contrast: Double(contrast),
            saturation: Double(saturation),
            inputEV: Double(inputEV),
            in: workingSpace
        )
        return base.adjusted(adjustment) ?? base
    }

    /// The image with every pixel changed on its own, as bytes; for amounts of light there is ``apply(_:)``.
    ///
    /// ```swift
    /// let negative = image.kf.mapPixels { pixel in
    ///     pixel.red = pixel.alpha - pixel.red
    ///     pixel.green = pixel.alpha - pixel.green
    ///     pixel.blue = pixel.alpha - pixel.blue
    /// }
    /// ```
    /// - Parameter transform: Changes a pixel, whose colours are multiplied by alpha; called on this thread.
    /// - Returns: The new image, turned as this one, without animation; the image itself when it is empty, or without
    ///   memory.
    public func mapPixels(_ transform: (inout Bitmap.Pixel) -> Void) -> KFCrossPlatformImage {
        guard let bitmap = try? base.cgImage?.mapPixels(transform) else { return base }
        return base.derived(bitmap, orientation: base.imageOrientation)
    }

    /// The image as a filter changes it.
    ///
    /// - Parameter filter: The calculation on its pixels.
    /// - Returns: The new image, of the same scale; the image itself when the filter returns nil.
    public func apply(_ filter: Filter) -> KFCrossPlatformImage {
        base.filtered(in: filter.workingSpace, filter.transform)
    }
}

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image, blurred by a Gaussian that ends where it falls below a fifth of its height.
    ///
    /// - Parameter sigma: The standard deviation before that, in pixels.
    /// - Returns: The new image; the image itself where nothing is to be blurred; nil without memory for it.
    @_spi(Server) public func blurredByCutGaussian(sigma: Double) -> KFCrossPlatformImage? {
        base.cutGaussianBlurred(sigma: sigma)
    }

    /// The image with sharper edges; flat areas and grain stay as they are.
    ///
    /// - Parameter sigma: The size of details, the standard deviation of a Gaussian in pixels.
    /// - Returns: The new image; the image itself where nothing is to be sharpened; nil without memory for it.
    @_spi(Server) public func sharpenedInLightness(sigma: Double) -> KFCrossPlatformImage? {
        base.sharpenedInLightness(sigma: sigma)
    }
}
