// GIF as a format: its header, and its first image. Other files unpack, compose and write frames.

import Foundation

enum GIFCodec: ImageCodec {
    static let contentType = ImageContentType.gif
    static let canEncode = true
    static let canHaveFrames = true

    static func info(_ bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageInfo {
        let blocks = try GIFBlocks(bytes, keeping: .none)
        var info = ImageInfo(contentType: contentType, size: blocks.canvas, byteCount: bytes.count)
        info.hasAlpha = blocks.hasTransparency
        info.setAnimation(blocks.frameCount, blocks.duration, loops: blocks.loopCount)
        return info
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer,
        _ options: DecodingOptions
    ) throws(ImagingError) -> DecodedImage {
        // The decoder does not outlive this call, so it may borrow the bytes.
        let borrowed = bytes.baseAddress.map {
            Data(bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: bytes.count, deallocator: .none)
        }
        let frames = try GIFFrames(borrowed ?? Data(), keeping: .first, limits: options.limits)
        var compositor = FrameCompositor(frames)
        let bitmap = try compositor.frame(at: 0)
        return DecodedImage(
            bitmap: try bitmap.resampled(to: options.target(for: frames.canvas)),
            frameCount: frames.frameCount,
            isDamaged: frames.isTruncated || compositor.isDamaged
        )
    }

    static func frames(of data: Data, limits: ImageDecodingLimits) throws(ImagingError) -> (any FrameDecoder)? {
        try GIFFrames(data, keeping: .all, limits: limits)
    }
}
