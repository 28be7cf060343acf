// The search for the highest quality whose file is small enough, for `--max-size`.

import Foundation
import KFImaging

/// Looks for the largest file of at most some bytes, by halving the range of qualities.
struct QualitySearch {
    /// The most bytes of the file.
    let limit: Int
    let type: ImageContentType

    /// The file of the highest whole quality that is small enough; files are taken to grow with it.
    ///
    /// - Parameter encode: Encodes with a quality from 0 to 1.
    /// - Returns: The file.
    /// - Throws: Why it cannot be encoded, or how large the smallest file is.
    func file(_ encode: (Double) async throws(Failure) -> Data) async throws(Failure) -> Data {
        guard type.hasQuality else {
            let data = try await encode(1)
            guard data.count > limit else { return data }
            throw failure("it has \(data.count) bytes, and no quality", "use --format jpeg, webp or avif")
        }
        var (low, high) = (0, 100)
        var (best, smallest) = (Data?.none, Int.max)
        while low <= high {
            let middle = (low + high) / 2
            let data = try await encode(Double(middle) / 100)
            if data.count <= limit {
                (best, low) = (data, middle + 1)
            } else {
                (smallest, high) = (min(smallest, data.count), middle - 1)
            }
        }
        if let best { return best }
        throw failure("the smallest file, of quality 0, has \(smallest) bytes", "allow more")
    }

    private func failure(_ why: String, _ advice: String) -> Failure {
        Failure(
            code: 9013,
            reason: "tooLarge",
            message:
                "cannot write \(type.name) of at most \(limit) bytes: \(why); \(advice), or make the image smaller "
                + "with --process 'thumbnail(1000x)'"
        )
    }
}
