// One file of an upload: a size of it in one format, or all of its frames in that size. For UploadWork.

import Foundation
import KFImaging
import KFSupport

/// One file that is to be made.
struct UploadJob: Sendable {
    /// A file, and its place among all files of the upload.
    typealias Made = (place: Int, file: Upload.File)

    let work: UploadWork
    let place: Int
    let variant: UploadVariant
    /// The upload in the size of the variant.
    let image: KFCrossPlatformImage
    let encoding: ImageEncoding
    /// Whether the upload has several frames.
    let isAnimated: Bool
    /// Its frames if they are decoded already.
    let frames: UploadFrames?

    /// Makes the file, on a thread for pixels.
    func made() async throws(UploadError) -> Made {
        guard !Task.isCancelled else { throw .cancelled }
        let file: Upload.File
        do throws(ImagingError) {
            file = try await isAnimated && encoding.keepsFrames ? animation() : self.file(of: image)
        } catch {
            throw Task.isCancelled ? .cancelled : .variantFailed(name: variant.name, error)
        }
        // Damage of later frames is known here first.
        guard work.options.allowsDamage || !file.image.isDamaged else { throw .unusable(work.damage) }
        return (place, file)
    }

    private func file(of image: KFCrossPlatformImage) async throws(ImagingError) -> Upload.File {
        let content = try await WorkExecutor.cpu.run { () async throws(ImagingError) -> EncodedContent in
            try encoding.content(of: image, source: work.data, limits: work.options.limits)
        }
        let encoded = EncodedImage(content, isDamaged: image.hasDamagedFrames)
        let (width, height) = (image.pixelWidth, image.pixelHeight)
        return Upload.File(variant: variant.name, pixelWidth: width, pixelHeight: height, image: encoded)
    }

    /// A file with all frames of an animation.
    private func animation() async throws(ImagingError) -> Upload.File {
        if let frames, let animation = await animation(of: frames) { return try await file(of: animation) }
        let limits = work.options.limits
        let processing: KingfisherOptionsInfo = [
            .processor(variant.processor), .animatedProcessing(.transformFrames), .decodingLimits(limits),
        ]
        do throws(KingfisherError) {
            let encoded = try await EncodedImage.made(from: work.data, options: processing, as: encoding)
            let (width, height) = (encoded.pixelWidth, encoded.pixelHeight)
            return Upload.File(variant: variant.name, pixelWidth: width, pixelHeight: height, image: encoded)
        } catch {
            let type = encoding.format ?? ImageContentType(sniffing: work.data) ?? .unknown
            let reason = await WorkExecutor.cpu.run { () async -> ImagingError? in
                error.isCancelled ? nil : Codecs.diagnose(work.data, limits: limits)
            }
            throw reason ?? .encodingFailed(type, detail: "the frames could not be written")
        }
    }
}

extension UploadJob {
    private func animation(of frames: UploadFrames) async -> KFCrossPlatformImage? {
        await WorkExecutor.cpu.run { () async -> KFCrossPlatformImage? in
            let animation = Image.animated(
                frames.scaled(to: variant.box),
                options: ImageCreatingOptions(),
                baseImage: image
            )
            if image.isDamaged { animation?.updateMetadata { $0.isDamaged = true } }
            return animation
        }
    }
}

extension ImageEncoding {
    /// Whether an animation stays one.
    var keepsFrames: Bool { frames == .all && format?.capacity.hasFrames ?? true }
}
