// `image.kf`: blur, colours and filters on images at hand.

public import Foundation
public import KFImaging

extension KingfisherWrapper where Base == KFCrossPlatformImage {
    /// The image, blurred like by a Gaussian.
    ///
    /// - Parameter radius: The standard deviation in pixels; nothing is blurred by one that is not above 0.
    /// - Returns: The new image; the image itself when there is nothing to do or no memory to do it.
    public func blurred(withRadius radius: CGFloat) -> KFCrossPlatformImage {
        base.blurred(radius: Double(radius)) ?? base
    }

    /// The image under a colour; transparent pixels are tinted too.
    ///
    /// - Parameters:
    ///   - color: The colour; its opacity says how much of the image is left.
    ///   - workingSpace: What is calculated with.
    /// - Returns: The new image; the image itself when there is nothing to do or no memory to do it.
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
    /// - Returns: The new image; the image itself when it is empty or there is no memory.
    public func tinted(with color: KFCrossPlatformColor, blendMode: CGBlendMode) -> KFCrossPlatformImage {
        base.tinted(with: color, blendMode) ?? base
    }

    /// The image in changed colours.
    ///
    /// - Parameters:
    ///   - brightness: What is added to every component; 0 changes nothing.
    ///   - contrast: By what distances from the middle are multiplied; 1 changes nothing.
    ///   - saturation: By what distances from grey are multiplied; 1 changes nothing, 0 leaves greys.
    ///   - inputEV: How many times the light is doubled; 0 changes nothing.
    ///   - workingSpace: What is calculated with.
    /// - Returns: The new image; the image itself when there is nothing to do or no memory to do it.
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

    /// The image as a filter changes it.
    ///
    /// - Parameter filter: What is done to its pixels.
    /// - Returns: The new image, of the same scale; the image itself when the filter returns nil.
    public func apply(_ filter: Filter) -> KFCrossPlatformImage {
        base.filtered(in: filter.workingSpace, filter.transform)
    }
}
