// The library's processor for each step of a pipeline.

import Foundation
import KFImaging
import Kingfisher

extension PipelineStep {
    /// The processor that does this step.
    ///
    /// Images have a scale of one here, so points are pixels.
    ///
    /// - Parameter files: The files that steps name, by their paths.
    /// - Returns: The processor.
    func processor(_ files: [String: OverlayFile] = [:]) -> any ImageProcessor {
        switch self {
        case .thumbnail(let size, let mode, let anchor, let light):
            ThumbnailImageProcessor(
                size: size,
                mode: mode.libraryMode,
                anchor: anchor.libraryAnchor,
                space: light.librarySpace
            )
        case .downsample(let size) where size.width > 0 && size.height > 0: DownsamplingImageProcessor(size: size)
        case .downsample(let size): ThumbnailImageProcessor(size: size, space: .encoded)
        case .resize(let size, let fit, let filter, let light):
            ResizingImageProcessor(
                referenceSize: size.withEndlessSides,
                mode: size.width > 0 && size.height > 0 ? fit.contentMode : .aspectFit,
                filter: filter?.libraryFilter ?? .automatic,
                space: light.librarySpace
            )
        case .crop(let size, let anchor): CroppingImageProcessor(size: size, anchor: anchor)
        case .cropRect(let rect): PixelCropProcessor(rect: rect)
        case .smartcrop(let size): SmartCroppingImageProcessor(size: size)
        case .pad(let size, let color, let anchor):
            CanvasResizingImageProcessor(
                size: size,
                scaleMode: .aspectFit,
                anchor: anchor,
                backgroundColor: color?.color
            )
        case .trim(let tolerance): TrimmingImageProcessor(tolerance: tolerance)
        case .round(let rounding): rounding.processor
        case .circle: CircleImageProcessor()
        case .border(let width, let color, let radius):
            BorderImageProcessor(border: Border(color: color.color, lineWidth: width, radius: radius.libraryRadius))
        // The library turns the other way, and in radians.
        case .rotate(let degrees): RotationImageProcessor(angle: -degrees * .pi / 180)
        case .flip(let axis): FlippingImageProcessor(horizontal: axis == .horizontal, vertical: axis == .vertical)
        case .blur(let sigma): GaussianBlurImageProcessor(sigma: sigma)
        case .sharpen(let sigma, let amount): SharpeningImageProcessor(sigma: sigma, amount: amount)
        case .overlay(let color, let fraction): OverlayImageProcessor(overlay: color.color, fraction: fraction)
        case .overlayImage(let overlay): ImageOverlayProcessor(overlay: overlay, file: files[overlay.path])
        case .tint(let color): TintImageProcessor(tint: color.color)
        case .colors(let controls): controls.processor
        case .grayscale: ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0)
        case .blackAndWhite: BlackWhiteProcessor()
        case .blend(let mode, let alpha, let color):
            BlendImageProcessor(blendMode: mode.libraryMode, alpha: alpha, backgroundColor: color?.color)
        case .composite(let operation, let alpha, let color):
            CompositingImageProcessor(
                compositingOperation: operation.libraryOperation,
                alpha: alpha,
                backgroundColor: color?.color
            )
        }
    }

    /// All steps as one processor; nil when there are none.
    ///
    /// - Parameters:
    ///   - steps: The steps, first to last.
    ///   - files: The files that they name, by their paths.
    /// - Returns: The processor.
    static func processor(of steps: [PipelineStep], files: [String: OverlayFile] = [:]) -> (any ImageProcessor)? {
        guard let first = steps.first else { return nil }
        return steps.dropFirst().reduce(first.processor(files)) { $0 |> $1.processor(files) }
    }
}

extension CGSize {
    /// The size with sides without end instead of those that were left out: what fits into it fits the other side.
    fileprivate var withEndlessSides: CGSize {
        CGSize(width: width > 0 ? width : .infinity, height: height > 0 ? height : .infinity)
    }
}

extension PipelineStep.Rounding {
    fileprivate var processor: any ImageProcessor {
        RoundCornerImageProcessor(
            radius: radius.libraryRadius,
            targetSize: size,
            roundingCorners: corners.reduce(into: []) { $0.insert($1.rectCorner) },
            backgroundColor: background?.color
        )
    }
}

extension PipelineStep.ColorControls {
    fileprivate var processor: any ImageProcessor {
        ColorControlsProcessor(
            brightness: brightness,
            contrast: contrast,
            saturation: saturation,
            inputEV: exposure
        )
    }
}
