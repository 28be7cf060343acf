// The value of `--widths`, for `kf process`.

import ArgumentParser

/// The widths of several results of one image.
struct Widths: ExpressibleByArgument, Sendable {
    /// In pixels, each once, the smallest first.
    let pixels: [Int]

    /// Reads whole numbers with commas between them; nil where one is not from 1 to 16384.
    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard numbers.allSatisfy({ (1...Int(PipelineParser.largestSide)).contains($0) }) else { return nil }
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
