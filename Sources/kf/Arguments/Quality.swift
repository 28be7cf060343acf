// The value of `--quality`, for `kf fetch` and `kf process`.

import ArgumentParser

/// A quality of lossy formats, or the score that files are to reach.
///
/// Whole numbers go from 0 to 100, numbers with a point from 0.0 to 1.0: `1` is nearly the worst, `1.0` the best. Of
/// `score:75`, 75 is the score of SSIMULACRA 2; `auto` is that one.
enum Quality: Equatable, Sendable {
    /// From 0 to 1.
    case fraction(Double)
    /// Up to 100.
    case score(Double)

    init(_ text: String) throws {
        let words = text.split(separator: ":", omittingEmptySubsequences: false)
        if text == "auto" {
            self = .score(75)
        } else if words.count == 2, words[0] == "score", let number = Double(words[1]), (1...100).contains(number) {
            self = .score(number)
        } else if let number = Double(text), (0...(text.contains(".") ? 1 : 100)).contains(number) {
            self = .fraction(text.contains(".") ? number : number / 100)
        } else {
            throw ValidationError(
                "--quality must be from 0 to 100, or with a point from 0.0 to 1.0, or a score such as score:75, or auto"
            )
        }
    }

    /// The quality from 0 to 1; nil where a score is named.
    var fraction: Double? { if case .fraction(let fraction) = self { fraction } else { nil } }
    /// The score; nil where a quality is named.
    var score: Double? { if case .score(let score) = self { score } else { nil } }
}
