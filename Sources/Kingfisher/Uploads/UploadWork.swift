// How an upload becomes its variants: one decode, the sizes one after the other, the encodings side by side. For
// Upload.

import Foundation
import KFImaging
import KFSupport

/// The work on one upload.
struct UploadWork: Sendable {
    let data: Data
    let variants: [UploadVariant]
    let options: UploadOptions

    /// An upload in the sizes of its variants.
    private struct Renditions: Sendable {
        let info: ImageInfo
        let photo: PhotoInfo?
        let decoded: KFCrossPlatformImage
        /// One for each variant.
        let images: [KFCrossPlatformImage]
    }

    /// One file that is to be made.
    private struct Job: Sendable {
        let variant: UploadVariant
        let image: KFCrossPlatformImage
        let encoding: ImageEncoding
    }

    func upload() async throws(UploadError) -> Upload {
        let renditions = try await WorkExecutor.cpu.run { () async throws(UploadError) -> Renditions in
            try makeRenditions()
        }
        let jobs = zip(variants, renditions.images).flatMap { variant, image in
            variant.encodings.map { Job(variant: variant, image: image, encoding: $0) }
        }
        async let facts = WorkExecutor.cpu.run { [maxColorCount = options.maxColorCount] in
            UploadFacts(renditions.info, renditions.photo, renditions.decoded, maxColorCount: maxColorCount)
        }
        let files = try await files(jobs, isAnimated: renditions.info.frameCount > 1)
        var known = await facts
        if files.contains(where: \.image.isDamaged) { known.isDamaged = true }
        return Upload(facts: known, files: files)
    }

    private func makeRenditions() throws(UploadError) -> Renditions {
        guard !Task.isCancelled else { throw .cancelled }
        do throws(ImagingError) {
            let info = try Codecs.info(of: data, limits: options.limits)
            let stored = PixelSize(info.pixelWidth, info.pixelHeight)
            let original = info.orientation.isTransposing ? stored.transposed : stored
            try check(original, frameCount: info.frameCount)
            let photo = try PhotoInfo(data: data, readingLocation: options.readsLocation, limits: options.limits)
            let small = Thumbnail(width: 200, height: 200, mode: .fit, anchor: .center, enlarges: false)
            let boxes = variants.map(\.box)
            let plan = RenditionPlan(boxes.isEmpty ? [small] : boxes, of: original)
            let decoded = try decoded(to: plan.decodedSize)
            guard options.allowsDamage || !decoded.isDamaged else { throw damage }
            var images = [KFCrossPlatformImage](repeating: decoded, count: variants.count)
            for step in plan.steps where step.box < variants.count {
                let source = step.source.map { images[$0] } ?? decoded
                images[step.box] = try source.thumbnail(boxes[step.box], ofOriginal: original)
            }
            return Renditions(info: info, photo: photo, decoded: decoded, images: images)
        } catch {
            throw .unusable(error)
        }
    }

    /// Throws when the image, or a variant of it, is larger than is allowed.
    private func check(_ original: PixelSize, frameCount: Int) throws(ImagingError) {
        try options.limits.check(width: original.width, height: original.height)
        for variant in variants {
            let box = variant.box
            try box.check(enlarging: original, options.limits)
            let size = box.kept(of: box.scaled(original))
            for type in variant.encodings.compactMap(\.format) { try Self.check(size, in: type) }
        }
        if frameCount > 1, variants.contains(where: { $0.encodings.contains(where: \.keepsFrames) }) {
            try options.limits.check(frameCount: frameCount)
            try options.limits.check(frame: original)
        }
    }

    /// Throws when a format that is asked for by name holds no image of this size.
    private static func check(_ size: PixelSize, in type: ImageContentType) throws(ImagingError) {
        let capacity = type.capacity
        guard !capacity.shrinksToFit, !capacity.holds(size) else { return }
        let isLong = size.longerSide > capacity.side
        throw .limitExceeded(
            limit: isLong ? "longest side of \(type.name)" : "most pixels of \(type.name)",
            allowed: isLong ? capacity.side : capacity.pixelCount,
            width: size.width,
            height: size.height
        )
    }

    /// All of the image, upright, in exactly a size.
    private func decoded(to size: PixelSize) throws(ImagingError) -> KFCrossPlatformImage {
        let box = ImageDecodingOptions.thumbnail(
            width: size.width,
            height: size.height,
            mode: .exact,
            limits: options.limits
        )
        return try Codecs.decode(data, options: box)
    }

    private func files(_ jobs: [Job], isAnimated: Bool) async throws(UploadError) -> [Upload.File] {
        let results = await withTaskGroup(
            of: (Int, Result<Upload.File, UploadError>).self,
            returning: Result<[Upload.File], UploadError>.self
        ) { group in
            for (index, job) in jobs.enumerated() {
                group.addTask {
                    (
                        index,
                        await Result { () async throws(UploadError) in try await file(job, isAnimated: isAnimated) }
                    )
                }
            }
            var files = [Upload.File?](repeating: nil, count: jobs.count)
            for await (index, result) in group {
                switch result {
                case .success(let file): files[index] = file
                case .failure(let error):
                    group.cancelAll()
                    return .failure(error)
                }
            }
            return .success(files.compactMap(\.self))
        }
        return try results.get()
    }

    private func file(_ job: Job, isAnimated: Bool) async throws(UploadError) -> Upload.File {
        guard !Task.isCancelled else { throw .cancelled }
        let file: Upload.File
        do throws(ImagingError) {
            file = try await isAnimated && job.encoding.keepsFrames ? animation(job) : still(job)
        } catch {
            throw Task.isCancelled ? .cancelled : .variantFailed(name: job.variant.name, error)
        }
        // Later frames are decoded here first.
        guard options.allowsDamage || !file.image.isDamaged else { throw .unusable(damage) }
        return file
    }

    /// Why a damaged upload is refused.
    private var damage: ImagingError {
        .malformed(ImageContentType(sniffing: data) ?? .unknown, detail: "a part of the image is missing")
    }

    private func still(_ job: Job) async throws(ImagingError) -> Upload.File {
        let content = try await WorkExecutor.cpu.run { () async throws(ImagingError) -> EncodedContent in
            try job.encoding.content(of: job.image, source: data, limits: options.limits)
        }
        let image = EncodedImage(content, isDamaged: job.image.isDamaged)
        let (width, height) = (job.image.pixelWidth, job.image.pixelHeight)
        return Upload.File(variant: job.variant.name, pixelWidth: width, pixelHeight: height, image: image)
    }

    /// A file with all frames of an animation.
    private func animation(_ job: Job) async throws(ImagingError) -> Upload.File {
        let processing: KingfisherOptionsInfo = [
            .processor(job.variant.processor), .animatedProcessing(.transformFrames), .decodingLimits(options.limits),
        ]
        do throws(KingfisherError) {
            let image = try await EncodedImage.made(from: data, options: processing, as: job.encoding)
            let (width, height) = (image.pixelWidth, image.pixelHeight)
            return Upload.File(variant: job.variant.name, pixelWidth: width, pixelHeight: height, image: image)
        } catch {
            let type = job.encoding.format ?? ImageContentType(sniffing: data) ?? .unknown
            let reason = await WorkExecutor.cpu.run { () async -> ImagingError? in
                error.isCancelled ? nil : Codecs.diagnose(data, limits: options.limits)
            }
            throw reason ?? .encodingFailed(type, detail: "the frames could not be written")
        }
    }
}

extension ImageEncoding {
    /// Whether an animation stays one.
    fileprivate var keepsFrames: Bool { frames == .all && format?.capacity.hasFrames ?? true }
}
