// The options that limit what a source may cost, and the library's limits they set; for all commands that read images.

import ArgumentParser
import Foundation
import Kingfisher

/// The limits on sources, each the library's own unless it is given.
struct LimitArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Refuse images of more pixels. (default: 268435456; fewer for animations and some progressive JPEGs)",
            valueName: "n"
        )
    )
    var maxPixels: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Refuse sources of more bytes; what is written is limited by --max-size of fetch and process. (default: 200 "
                + "MiB for downloads and pipes, no limit for files)",
            valueName: "n"
        )
    )
    var maxBytes: Int?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Refuse animations of more frames. (default: 10000)", valueName: "n")
    )
    var maxFrames: Int?

    func validate() throws {
        for (name, value) in [("--max-pixels", maxPixels), ("--max-bytes", maxBytes), ("--max-frames", maxFrames)] {
            guard let value else { continue }
            guard value >= 1 else { throw ValidationError("\(name) must be at least 1") }
        }
    }

    /// Makes the limits those of the process.
    func apply() {
        if let maxPixels {
            ImageDecodingLimits.default.maxPixelCount = maxPixels
            ImageDecodingLimits.default.maxFramePixelCount =
                max(ImageDecodingLimits.default.maxFramePixelCount, maxPixels)
            // No JPEG takes more than 8 bytes a pixel and some for its edges, so that only the number of pixels counts.
            let coefficients = Units.product(maxPixels, 9)
            ImageDecodingLimits.default.maxCoefficientBytes =
                max(ImageDecodingLimits.default.maxCoefficientBytes, coefficients)
        }
        if let maxFrames { ImageDecodingLimits.default.maxFrameCount = maxFrames }
        if let maxBytes { ImageDownloader.default.maxResponseBytes = maxBytes }
    }

    /// Throws for a file, or the bytes of a data URL, that is larger than allowed.
    func check(_ argument: SourceArgument) throws(Failure) {
        guard let maxBytes else { return }
        let count: Int
        switch argument.location {
        case .network: return
        case .bytes(let data): count = data.count
        case .file(let url):
            var status = stat()
            guard stat(url.path.systemName, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
            count = Int(status.st_size)
        }
        guard count > maxBytes else { return }
        throw Failure(
            code: 9009,
            reason: "tooManyBytes",
            message: "the source has \(count) bytes, and --max-bytes allows \(maxBytes)"
        )
    }
}
