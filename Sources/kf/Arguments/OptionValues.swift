// The values of `--max-size`, `--quality`, `--widths` and `--formats`, for `kf fetch`, `kf process` and `kf variants`.

import ArgumentParser
@_spi(Server) import KFImaging

/// A number of bytes, such as `200k`.
struct FileSize: Equatable, Sendable {
    let bytes: Int

    /// Reads `200000`, `200k`, `200 KB`, `1.5M`, and `200Ki` for 200 · 1024; letters may be large or small.
    init(_ text: String) throws {
        guard let match = text.lowercased().wholeMatch(of: #/(\d{1,12}(?:\.\d{1,6})?) ?([kmg]?)(i?)b?/#),
            let number = Double(match.output.1), match.output.3.isEmpty || !match.output.2.isEmpty
        else {
            throw ValidationError("--max-size must be a number of bytes, such as 200000, 200k or 1.5M")
        }
        let unit = match.output.3.isEmpty ? 1000.0 : 1024
        let factors: [Substring: Double] = ["k": unit, "m": unit * unit, "g": unit * unit * unit]
        let factor = factors[match.output.2] ?? 1
        guard (1...1e15).contains(number * factor) else { throw ValidationError("--max-size must be at least 1") }
        bytes = Int(number * factor)
    }
}

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
            self = .score(ImageEncodingOptions.usualTargetScore)
        } else if words.count == 2, words[0] == "score", let number = Double(words[1]),
            ImageEncodingOptions.targetScores.contains(number)
        {
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

/// The widths of several results of one image.
struct Widths: ExpressibleByArgument, Sendable {
    /// In pixels, each once, the smallest first.
    let pixels: [Int]

    /// Reads whole numbers with commas between them; nil where one is not from 1 to 16384.
    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.allSatisfy({ (1...Int(PipelineArguments.largestSide)).contains($0) }) else { return nil }
        pixels = Set(numbers).sorted()
    }

    /// The widths for an image of a width, which is not enlarged: its own stands for all that are larger.
    func fitting(_ width: Int) -> [Int] {
        let smaller = pixels.filter { $0 < width }
        return smaller.count == pixels.count ? smaller : smaller + [width]
    }

    /// The warning for an image of a width, where that stands for others.
    func warning(_ width: Int) -> String? {
        guard let larger = pixels.first(where: { $0 > width }) else { return nil }
        return "the image is \(width) pixels wide, and written so in place of \(larger)"
            + (pixels.last == larger ? "" : " and more")
    }
}

/// The formats of several results of one image.
struct Formats: Sendable {
    /// Each once, in the order in which they were named.
    let formats: [OutputFormat]

    /// Reads names of formats with commas between them.
    init(_ text: String) throws {
        formats = try text.split(separator: ",", omittingEmptySubsequences: false).reduce(into: []) { formats, name in
            guard let format = OutputFormat(argument: String(name)), format != .ico else {
                let known = OutputFormat.allCases.filter { $0 != .ico }.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--formats must be some of \(known), with commas between them, such as webp,jpeg")
            }
            if !formats.contains(format) { formats.append(format) }
        }
    }
}
