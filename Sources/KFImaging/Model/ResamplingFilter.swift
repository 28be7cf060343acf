// The filters by which images are resized, and their formulas.

import Foundation

/// How a resized image is made out of the pixels of the original.
///
/// All but ``nearest`` take more pixels into account the more an image is reduced, so nothing is skipped. Which numbers
/// they add up is another choice: ``WorkingSpace``.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ResamplingFilter: String, Sendable, Hashable, CaseIterable {
    /// ``lanczos3`` along an axis that is reduced, ``catmullRom`` along one that is enlarged; the default.
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
        self == .automatic ? (isReducing ? .lanczos3 : .catmullRom) : self
    }

    /// Where the kernel ends, in pixels from its centre; the end of ``automatic`` depends on the axis.
    var support: Double {
        switch self {
        case .nearest: 0.5
        case .bilinear: 1
        case .catmullRom: 2
        case .lanczos3, .automatic: 3
        }
    }

    /// Writes the weights at equal steps from the first distance on; distances left of the centre are negative.
    func weigh(_ weights: UnsafeMutableBufferPointer<Double>, from first: Double, step: Double) {
        if support == 3 { return Self.weighLanczos(weights, from: first, step: step) }
        for index in weights.indices {
            let x = abs(first + Double(index) * step)
            weights[index] = x < support ? weight(x) : 0
        }
    }

    /// The weight at a distance from the centre, neither negative nor beyond the support.
    private func weight(_ x: Double) -> Double {
        switch self {
        case .bilinear: 1 - x
        case .catmullRom: x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((2.5 - 0.5 * x) * x - 4) * x + 2
        case .nearest, .lanczos3, .automatic: 1
        }
    }

    /// sinc(x) · sinc(x/3), of which sines would take most of the time.
    ///
    /// One of two is enough, as sin 3t = (3 - 4 sin² t) sin t, and that of the next step follows from the one before.
    private static func weighLanczos(
        _ weights: UnsafeMutableBufferPointer<Double>,
        from first: Double,
        step: Double
    ) {
        let turn = (sine: sin(.pi * step / 3), cosine: cos(.pi * step / 3))
        var (sine, cosine) = (sin(.pi * first / 3), cos(.pi * first / 3))
        for index in weights.indices {
            let x = first + Double(index) * step
            let ratio = abs(x) > 1e-9 ? sine / (.pi * x / 3) : 1
            weights[index] = abs(x) < 3 ? (1 - sine * sine * 4 / 3) * ratio * ratio : 0
            (sine, cosine) = (sine * turn.cosine + cosine * turn.sine, cosine * turn.cosine - sine * turn.sine)
        }
    }
}
