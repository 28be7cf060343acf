// The library's value for each word of a pipeline.

import Foundation
import KFImaging
import Kingfisher

extension PipelineStep.Filling {
    var libraryMode: ThumbnailMode {
        switch self {
        case .fit: .fit
        case .fill: .fill
        case .exact: .exact
        }
    }
}

extension PipelineStep.Anchor {
    var libraryAnchor: ThumbnailAnchor {
        switch self {
        case .point(let point): .point(point)
        case .smart: .smart
        }
    }
}

extension PipelineStep.Fit {
    var contentMode: ContentMode {
        switch self {
        case .none: .none
        case .aspectFit: .aspectFit
        case .aspectFill: .aspectFill
        }
    }
}

extension PipelineStep.Filter {
    var libraryFilter: ResamplingFilter {
        switch self {
        case .nearest: .nearest
        case .bilinear: .bilinear
        case .catmullRom: .catmullRom
        case .lanczos3: .lanczos3
        }
    }
}

extension PipelineStep.Light {
    var librarySpace: WorkingSpace {
        switch self {
        case .linear: .linear
        case .encoded: .encoded
        }
    }
}

extension PipelineStep.Length {
    var libraryRadius: Radius {
        switch self {
        case .pixels(let pixels): .point(pixels)
        case .fraction(let fraction): .widthFraction(fraction)
        }
    }
}

extension PipelineStep.Corner {
    var rectCorner: RectCorner {
        switch self {
        case .topLeft: .topLeft
        case .topRight: .topRight
        case .bottomLeft: .bottomLeft
        case .bottomRight: .bottomRight
        }
    }
}

// The cases are in the order of the library's raw values; a test compares every pair.

extension PipelineStep.BlendMode {
    var libraryMode: CGBlendMode {
        CGBlendMode(rawValue: Int32(Self.allCases.firstIndex(of: self) ?? 0)) ?? .normal
    }
}

extension PipelineStep.CompositingOperation {
    var libraryOperation: NSCompositingOperation {
        NSCompositingOperation(rawValue: UInt(Self.allCases.firstIndex(of: self) ?? 0)) ?? .sourceOver
    }
}

extension HexColor {
    var color: Color {
        Color(
            red: CGFloat(red) / 255,
            green: CGFloat(green) / 255,
            blue: CGFloat(blue) / 255,
            alpha: CGFloat(alpha) / 255
        )
    }
}
