// How an upload becomes its variants: one decode, the sizes one after the other, the encodings side by side. For
// Upload.

import Foundation
import KFImaging
import KFSupport

/// The work on one upload.
struct UploadWork: Sendable {
    /// What is given each file as it is ready.
    typealias Receiver = @concurrent @Sendable (Upload.File) async throws -> Void

    let data: Data
    /// The name that it was sent under; nil where none is known.
    let name: String?
    let variants: [UploadVariant]
    let options: UploadOptions

    /// An upload as it was decoded, and what its variants are made of.
    private struct Original: Sendable {
        let info: ImageInfo
        let photo: PhotoInfo?
        /// All of it, in the size that the plan says.
        let decoded: KFCrossPlatformImage
        /// The size as it is displayed, in pixels.
        let size: PixelSize
        let plan: RenditionPlan
    }

    /// The encoded files: each is passed to the receiver, or kept for the result where there is no receiver.
    private struct ReadyFiles: Sendable {
        let receiver: Receiver?
        private(set) var isDamaged = false
        private var kept: [Int: Upload.File] = [:]

        init(_ receiver: Receiver?) { self.receiver = receiver }

        /// The files that were kept, in the order of the variants and their encodings.
        var files: [Upload.File] { kept.sorted { $0.key < $1.key }.map(\.value) }

        mutating func add(_ made: UploadJob.Made) async throws {
            guard !Task.isCancelled else { throw UploadError.cancelled }
            isDamaged = isDamaged || made.file.image.isDamaged
            if let receiver { try await receiver(made.file) } else { kept[made.place] = made.file }
        }
    }

    /// Makes the files and the facts.
    ///
    /// - Parameter receiver: Takes the files, one at a time; without it they are in the result.
    /// - Returns: The facts, and the files unless a receiver took them.
    /// - Throws: ``UploadError``, or what the receiver throws.
    func upload(to receiver: Receiver? = nil) async throws -> Upload {
        guard data.count <= options.maxBytes else {
            throw UploadError.tooManyBytes(data.count, allowed: options.maxBytes)
        }
        let original = try await WorkExecutor.cpu.run { () async throws(UploadError) -> Original in try decoded() }
        async let facts = WorkExecutor.cpu.run { [maxColorCount = options.maxColorCount] in
            UploadFacts(original.info, original.photo, original.decoded, maxColorCount: maxColorCount)
        }
        let ready = try await files(of: original, for: receiver)
        var known = await facts
        if ready.isDamaged { known.isDamaged = true }
        return Upload(facts: known, files: ready.files)
    }

    /// Makes the sizes one after the other, and of each its files beside those of others.
    ///
    /// A size is let go of when its files are made and no other size is made of it. One file more than there are
    /// threads is begun or waits for the receiver, so that all threads encode while it takes one.
    private func files(of original: Original, for receiver: Receiver?) async throws -> ReadyFiles {
        let most = PixelThreads.count + 1
        return try await withThrowingTaskGroup(of: UploadJob.Made.self) { group in
            var ready = ReadyFiles(receiver)
            var images: [Int: KFCrossPlatformImage] = [:]
            var running = 0
            async let frames = frames(of: original)
            for (index, step) in original.plan.steps.enumerated() where step.box < variants.count {
                let source = step.source.flatMap { images[$0] } ?? original.decoded
                let image = try await size(step.box, of: source, original: original.size)
                images[step.box] = image
                images = images.filter { original.plan.needs($0.key, after: index) }
                // Files of one frame do not wait for the others.
                let hasFrames = variants[step.box].encodings.contains(where: \.keepsFrames)
                let isAnimated = hasFrames && original.info.frameCount > 1
                for job in await jobs(for: step.box, image, isAnimated ? frames : nil, isAnimated: isAnimated) {
                    if running == most, let made = try await group.next() {
                        running -= 1
                        try await ready.add(made)
                    }
                    group.addTask { try await job.made() }
                    running += 1
                }
            }
            for try await made in group { try await ready.add(made) }
            return ready
        }
    }

    /// The decoded frames of an animation, if several files have all frames and there is memory for them.
    private func frames(of original: Original) async -> UploadFrames? {
        let files = variants.flatMap(\.encodings).filter { $0.keepsFrames && $0.maxFrameCount == nil }
        guard original.info.frameCount > 1, files.count > 1 else { return nil }
        return await WorkExecutor.cpu.run { [data, limits = options.limits] () async -> UploadFrames? in
            guard let source = try? Codecs.frameSource(of: data, limits: limits) else { return nil }
            return UploadFrames(source, size: original.plan.decodedSize, original: original.size, limits: limits)
        }
    }

    /// The files of a variant.
    private func jobs(
        for index: Int,
        _ image: KFCrossPlatformImage,
        _ frames: UploadFrames?,
        isAnimated: Bool
    ) -> [UploadJob] {
        let first = variants[..<index].reduce(0) { $0 + $1.encodings.count }
        return variants[index].encodings.enumerated().map { offset, encoding in
            UploadJob(
                work: self,
                place: first + offset,
                variant: variants[index],
                image: image,
                encoding: encoding,
                isAnimated: isAnimated,
                frames: encoding.maxFrameCount == nil ? frames : nil
            )
        }
    }

    /// The upload in the size of a variant, made of a larger one on a thread for pixels.
    private func size(
        _ index: Int,
        of source: KFCrossPlatformImage,
        original: PixelSize
    ) async throws(UploadError) -> KFCrossPlatformImage {
        guard !Task.isCancelled else { throw .cancelled }
        let box = variants[index].box
        do throws(ImagingError) {
            return try await WorkExecutor.cpu.run { () async throws(ImagingError) -> KFCrossPlatformImage in
                try source.thumbnail(box, ofOriginal: original)
            }
        } catch {
            throw .unusable(error)
        }
    }

    private func decoded() throws(UploadError) -> Original {
        guard !Task.isCancelled else { throw .cancelled }
        let info: ImageInfo
        do throws(ImagingError) {
            info = try Codecs.info(of: data, limits: options.limits)
        } catch {
            throw .unusable(error)
        }
        if !options.allowsWrongExtension, let name, let ending = info.contentType.foreignExtension(of: name) {
            throw .wrongExtension(ending, info.contentType)
        }
        do throws(ImagingError) { return try decoded(info) } catch { throw .unusable(error) }
    }

    private func decoded(_ info: ImageInfo) throws(ImagingError) -> Original {
        let stored = PixelSize(info.pixelWidth, info.pixelHeight)
        let size = info.orientation.isTransposing ? stored.transposed : stored
        try check(size, frameCount: info.frameCount)
        let photo = try PhotoInfo(data: data, readingLocation: options.readsLocation, limits: options.limits)
        let small = Thumbnail(width: 200, height: 200, mode: .fit, anchor: .center, enlarges: false)
        let boxes = variants.map(\.box)
        let plan = RenditionPlan(boxes.isEmpty ? [small] : boxes, of: size)
        let image = try decoded(to: plan.decodedSize)
        guard options.allowsDamage || !image.isDamaged else { throw damage }
        return Original(info: info, photo: photo, decoded: image, size: size, plan: plan)
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

    /// Why a damaged upload is refused.
    var damage: ImagingError {
        .malformed(ImageContentType(sniffing: data) ?? .unknown, detail: "a part of the image is missing")
    }
}
