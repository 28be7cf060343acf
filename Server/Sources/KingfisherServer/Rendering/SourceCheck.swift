// The limits on sources and results, judged by headers before anything is decoded. For the processor and for errors.

import Foundation
import KFImageURLs
import Kingfisher

/// What a source may be, and how large a result may become.
struct SourceCheck {
    /// Nil is no limit.
    let maxBytes: Int?
    private let maxPixels: Double
    private let maxFramePixels: Double
    let maxFrames: Int
    /// Whether a part of a source may be missing.
    private let allowsDamage: Bool

    init(_ settings: SourceSettings, _ plan: ImagePlan) {
        // 0 is no limit. The downloader has the server's, so a plan can only lower it.
        maxBytes = [settings.maxBytes, plan.limits.sourceBytes ?? 0].filter { $0 > 0 }.min()
        maxPixels = (plan.limits.sourceMegapixels ?? settings.maxMegapixels) * 1e6
        maxFramePixels = (plan.limits.frameMegapixels ?? settings.maxFrameMegapixels) * 1e6
        let isStill = plan.output.format.map { !FileFormat.animated.contains($0) } ?? false
        maxFrames = isStill ? 1 : max(1, plan.limits.animationFrames ?? settings.maxFrames)
        allowsDamage = settings.damaged == .part
    }

    /// The header of a source that is allowed.
    func header(of data: Data) throws(RenderingError) -> ImageInfo {
        try byteCount(data.count)
        let header: ImageInfo
        do throws(ImagingError) {
            header = try ImageInfo(data: data)
        } catch {
            throw RenderingError(error)
        }
        let size = "\(header.pixelWidth)×\(header.pixelHeight) pixels"
        let pixels = Double(header.pixelWidth) * Double(header.pixelHeight)
        let frames = min(header.frameCount, maxFrames)
        if pixels * Double(frames) > maxPixels {
            let frames = frames > 1 ? " in each of \(frames) frames" : ""
            throw .tooLarge("The source has \(size)\(frames); the limit is \(Int(maxPixels)) in all.")
        }
        if frames > 1, maxFramePixels > 0, pixels > maxFramePixels {
            throw .tooLarge("The frames of the source have \(size); the limit is \(Int(maxFramePixels)) in all.")
        }
        return header
    }

    /// Throws if a source has more bytes than it may have.
    func byteCount(_ count: Int) throws(RenderingError) {
        guard let maxBytes, count > maxBytes else { return }
        throw .tooLarge("The source has \(count) bytes; the limit is \(maxBytes).")
    }

    /// Throws if a part of an image is missing, and may not be.
    func damage(of image: Image) throws(RenderingError) {
        if image.isDamaged, !allowsDamage { throw .incomplete }
    }

    /// Throws if a result would be larger than a source may be, at any step.
    func sizes(of geometry: ImageGeometry) throws(RenderingError) {
        for size in [geometry.scaled, geometry.size]
        where Self.pixels(size.width, size.height) > max(maxPixels, 4) {
            throw .tooLarge(
                "The result would need \(size.width)×\(size.height) pixels; the limit is \(Int(maxPixels)) in all."
            )
        }
    }

    /// Throws if the watermark would be larger than a source may be.
    func watermark(_ size: PixelSize) throws(RenderingError) {
        guard Self.pixels(size.width, size.height) > max(maxPixels, 4) else { return }
        throw .tooLarge(
            "The watermark would need \(size.width)×\(size.height) pixels; the limit is \(Int(maxPixels)) in all."
        )
    }

    /// The pixels that there is memory for: rows are as long as a multiple of four of them.
    private static func pixels(_ width: Int, _ height: Int) -> Double {
        (Double(width) / 4).rounded(.up) * 4 * Double(height)
    }
}
