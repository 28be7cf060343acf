// How options and limits are written for a decoder, and read there.

import Foundation

extension MessageWriter {
    /// Where images are decoded is left out: the decoder does it.
    mutating func add(_ limits: ImageDecodingLimits) {
        add(limits.maxPixelCount)
        add(limits.maxScanCount)
        add(limits.maxCoefficientBytes)
        add(limits.maxFrameCount)
        add(limits.maxFramePixelCount)
        add(limits.maxAnimationPixelCount)
    }

    mutating func add(_ options: DecodingOptions) {
        add(options.maxPixelSize) { $0.add($1) }
        add(options.thumbnail) { writer, box in
            writer.add(box.width)
            writer.add(box.height)
            writer.add(box.mode.rawValue)
            writer.add(box.enlarges)
            writer.add(box.coverage) { writer, coverage in
                writer.add(coverage.width)
                writer.add(coverage.height)
            }
            writer.add(box.space == .linear)
        }
    }
}

extension MessageReader {
    mutating func limits() throws(MalformedMessage) -> ImageDecodingLimits {
        var limits = ImageDecodingLimits(
            maxPixelCount: try any(),
            maxScanCount: try any(),
            maxCoefficientBytes: try any()
        )
        limits.maxFrameCount = try any()
        limits.maxFramePixelCount = try any()
        limits.maxAnimationPixelCount = try any()
        limits.isolation = .inProcess
        return limits
    }

    /// Options as far as a codec needs them: the rest is done with its image.
    mutating func options(_ limits: ImageDecodingLimits) throws(MalformedMessage) -> DecodingOptions {
        let longest = try optional { reader throws(MalformedMessage) in try reader.any() }
        var options = DecodingOptions(maxPixelSize: longest, limits: limits)
        options.thumbnail = try optional { reader throws(MalformedMessage) in
            let (width, height) = (try reader.any(), try reader.any())
            guard let mode = ThumbnailMode(rawValue: try reader.string()) else { throw MalformedMessage() }
            var thumbnail = Thumbnail(
                width: width,
                height: height,
                mode: mode,
                anchor: .center,
                enlarges: try reader.bool()
            )
            thumbnail.coverage = try reader.optional { reader throws(MalformedMessage) in
                PixelExtent(width: try reader.share(), height: try reader.share())
            }
            thumbnail.space = try reader.bool() ? .linear : .encoded
            return thumbnail
        }
        return options
    }

    private mutating func any() throws(MalformedMessage) -> Int { try int(in: Int.min...Int.max) }
}
