// The value of `--max-size`, for `kf fetch` and `kf process`.

import ArgumentParser

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
