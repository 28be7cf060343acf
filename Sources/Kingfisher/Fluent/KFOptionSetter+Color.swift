// Chained methods for processors that blur or change colours.

public import Foundation
public import KFImaging

extension KFOptionSetter {
    /// Appends a ``BlurImageProcessor``.
    ///
    /// - Parameter radius: The standard deviation in points.
    /// - Returns: The changed copy.
    public func blur(radius: CGFloat) -> Self { appendProcessor(BlurImageProcessor(blurRadius: radius)) }

    /// Appends a ``TintImageProcessor``.
    ///
    /// - Parameter color: The colour; its opacity says how much of the image is left.
    /// - Returns: The changed copy.
    public func tint(color: KFCrossPlatformColor) -> Self { appendProcessor(TintImageProcessor(tint: color)) }

    /// Appends a ``TintImageProcessor`` with a blend mode.
    ///
    /// - Parameters:
    ///   - color: The colour, which is the source; its opacity counts.
    ///   - blendMode: How it and the image, the destination, are combined.
    /// - Returns: The changed copy.
    public func tint(color: KFCrossPlatformColor, blendMode: CGBlendMode) -> Self {
        appendProcessor(TintImageProcessor(tint: color, blendMode: blendMode))
    }

    /// Appends a ``BlackWhiteProcessor``.
    ///
    /// - Returns: The changed copy.
    public func blackWhite() -> Self { appendProcessor(BlackWhiteProcessor()) }

    /// Appends a ``ColorControlsProcessor``.
    ///
    /// - Parameters:
    ///   - brightness: The number added to every component; 0 changes nothing.
    ///   - contrast: The factor for distances from the middle; 1 changes nothing.
    ///   - saturation: The factor for distances from grey; 1 changes nothing, 0 leaves greys.
    ///   - inputEV: How many times the light is doubled; 0 changes nothing.
    /// - Returns: The changed copy.
    public func colorControls(
        brightness: CGFloat,
        contrast: CGFloat,
        saturation: CGFloat,
        inputEV: CGFloat
    ) -> Self {
        appendProcessor(
            ColorControlsProcessor(
                brightness: brightness,
                contrast: contrast,
                saturation: saturation,
                inputEV: inputEV
            )
        )
    }
}
