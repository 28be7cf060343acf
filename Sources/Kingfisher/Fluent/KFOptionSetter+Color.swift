// Chained methods for processors that blur or change colours. The parameters are those of the processors.

public import Foundation
public import KFImaging

extension KFOptionSetter {
    /// Appends a ``BlurImageProcessor``.
    public func blur(radius: CGFloat) -> Self { appendProcessor(BlurImageProcessor(blurRadius: radius)) }

    /// Appends a ``TintImageProcessor``.
    public func tint(color: KFCrossPlatformColor, workingSpace: WorkingSpace = .linear) -> Self {
        appendProcessor(TintImageProcessor(tint: color, workingSpace: workingSpace))
    }

    /// Appends a ``TintImageProcessor`` with a blend mode.
    public func tint(color: KFCrossPlatformColor, blendMode: CGBlendMode) -> Self {
        appendProcessor(TintImageProcessor(tint: color, blendMode: blendMode))
    }

    /// Appends a ``BlackWhiteProcessor``.
    public func blackWhite(workingSpace: WorkingSpace = .linear) -> Self {
        appendProcessor(BlackWhiteProcessor(workingSpace: workingSpace))
    }

    /// Appends a ``ColorControlsProcessor``.
    public func colorControls(
        brightness: CGFloat,
        contrast: CGFloat,
        saturation: CGFloat,
        inputEV: CGFloat,
        workingSpace: WorkingSpace = .linear
    ) -> Self {
        appendProcessor(
            ColorControlsProcessor(
                brightness: brightness,
                contrast: contrast,
                saturation: saturation,
                inputEV: inputEV,
                workingSpace: workingSpace
            )
        )
    }
}
