// How the pixels between pixels are found. Knows the kernels' formulas, and no picture.

import Foundation

/// How a resized image is made out of the pixels of the original.
///
/// All but ``nearest`` take more pixels into account the more an image is reduced, so nothing is skipped. All work on sRGB
/// values as they are.
public enum ResamplingFilter: String, Sendable, Hashable, CaseIterable {
    /// ``lanczos3`` along an axis that is reduced, ``bilinear`` along one that is enlarged; the default.
    case automatic
    /// The one nearest pixel: hard edges, jagged when reduced.
    case nearest
    /// A triangle: smooth and without halos.
    case bilinear
    /// The cubic curve through its points: a little sharper, with faint halos at hard edges.
    case catmullRom
    /// A windowed sinc: the sharpest, with halos at hard edges.
    case lanczos3

    /// The filter for one axis: never ``automatic``.
    func resolved(isReducing: Bool) -> ResamplingFilter {
        self == .automatic ? (isReducing ? .lanczos3 : .bilinear) : self
    }

    /// Where the kernel ends, in pixels from its centre; that of ``automatic`` depends on the axis.
    var support: Double {
        switch self {
        case .nearest: 0.5
        case .bilinear: 1
        case .catmullRom: 2
        case .lanczos3, .automatic: 3
        }
    }

    /// The weight at a distance from the centre, neither negative nor beyond the support.
    func weight(_ distance: Double) -> Double {
        let x = distance
        switch self {
        case .nearest: return 1
        case .bilinear: return 1 - x
        case .catmullRom: return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((2.5 - 0.5 * x) * x - 4) * x + 2
        case .lanczos3, .automatic:
            // sinc(x) · sinc(x/3) with one sine instead of two, which take most of the time: sin 3t = (3 - 4 sin² t) sin t.
            guard x > 1e-9 else { return 1 }
            let (t, sine) = (.pi * x / 3, sin(.pi * x / 3))
            return (1 - sine * sine * 4 / 3) * (sine / t) * (sine / t)
        }
    }
}
