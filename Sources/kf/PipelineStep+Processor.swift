// From the steps of a pipeline to the library's processors. Knows neither spelling nor pixels.

import Foundation
import KFImaging
import Kingfisher

extension PipelineStep {
    /// The processor that does this step.
    ///
    /// Pictures have a scale of one here, so points are pixels.
    var processor: any ImageProcessor {
        switch self {
        case .downsample(let size):
            DownsamplingImageProcessor(size: size)
        case .resize(let size, let fit):
            ResizingImageProcessor(referenceSize: size, mode: fit.contentMode)
        case .round(let rounding):
            RoundCornerImageProcessor(
                radius: rounding.radius.libraryRadius,
                targetSize: rounding.size,
                roundingCorners: rounding.corners.reduce(into: []) { $0.insert($1.rectCorner) },
                backgroundColor: rounding.background?.color
            )
        }
    }

    /// All steps as one processor; nil when there are none.
    static func processor(of steps: [PipelineStep]) -> (any ImageProcessor)? {
        guard let first = steps.first else { return nil }
        return steps.dropFirst().reduce(first.processor) { $0 |> $1.processor }
    }
}

extension PipelineStep.Fit {
    fileprivate var contentMode: ContentMode {
        switch self {
        case .none: .none
        case .aspectFit: .aspectFit
        case .aspectFill: .aspectFill
        }
    }
}

extension PipelineStep.Length {
    fileprivate var libraryRadius: Radius {
        switch self {
        case .pixels(let pixels): .point(pixels)
        case .fraction(let fraction): .widthFraction(fraction)
        }
    }
}

extension PipelineStep.Corner {
    fileprivate var rectCorner: RectCorner {
        switch self {
        case .topLeft: .topLeft
        case .topRight: .topRight
        case .bottomLeft: .bottomLeft
        case .bottomRight: .bottomRight
        }
    }
}

extension HexColor {
    fileprivate var color: Color {
        Color(
            red: CGFloat(red) / 255,
            green: CGFloat(green) / 255,
            blue: CGFloat(blue) / 255,
            alpha: CGFloat(alpha) / 255
        )
    }
}
