// The value of `--quality`, for `kf fetch` and `kf process`.

import ArgumentParser

/// A quality of lossy formats.
///
/// Whole numbers go from 0 to 100, numbers with a point from 0.0 to 1.0: `1` is nearly the worst, `1.0` the best.
struct Quality: Equatable, Sendable {
    /// From 0 to 1.
    let fraction: Double

    init(_ text: String) throws {
        let isFraction = text.contains(".")
        guard let number = Double(text), (0...(isFraction ? 1 : 100)).contains(number) else {
            throw ValidationError("--quality must be from 0 to 100, or with a point from 0.0 to 1.0")
        }
        fraction = isFraction ? number : number / 100
    }
}
