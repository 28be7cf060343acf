// The processor that does what a plan says, from the bytes of a source to the pixels of the result. For the renderer.

import Foundation
import KFImageURLs
@_spi(Server) import Kingfisher

/// Decodes a source at about the size it is needed in, and makes the result of a plan of it.
struct PlanProcessor: PartFindingImageProcessor, WeighingImageProcessor {
    private let plan: ImagePlan
    private let resultLimit: Int
    private let check: SourceCheck
    /// The formats of sources that are sent as they are.
    private let keptFormats: Set<ImageContentType>
    private let drawings: Drawings
    /// What becomes a mean when images are scaled.
    private let space: WorkingSpace
    /// What is laid over the result, if the plan asks for it.
    private let watermark: Watermark?
    /// What the first frame of an animation has fixed for all.
    private var parts = FoundParts()
    /// Frames are not trimmed: each might lose another border.
    private var isForFrames = false
    /// What it is a part of; nil for look-ups, which process nothing.
    let making: Making?
    private let preferredFormats: [FileFormat]
    /// Whether its quality is found by encoding it several times.
    private let findsQuality: Bool
    let identifier: String

    /// The processor for a request; one that differs in nothing that changes a pixel has the same identifier.
    init(
        _ request: RenderingRequest,
        _ configuration: ServerConfiguration,
        watermark: Watermark?,
        _ making: Making?
    ) {
        self.watermark = watermark
        (plan, preferredFormats, self.making) = (request.plan, request.preferredFormats, making)
        resultLimit = configuration.output.maxDimension
        findsQuality = request.plan.qualitySearch(in: configuration.output) != nil
        check = SourceCheck(configuration.sources, plan)
        keptFormats = request.keptFormats
        drawings = request.drawings(in: configuration.sources)
        space = configuration.output.usesLinearLight ? .linear : .encoded
        let pixels = request.plan.pixelIdentifier(
            resultLimit: resultLimit,
            keptFormats: keptFormats,
            drawings: drawings,
            watermark: watermark?.identifier,
            space: space
        )
        // What is made with cookies has a key of its own: it must not put out what everybody gets.
        identifier = request.cookies == nil ? pixels : pixels + "/cookies"
    }

    func weight(of data: Data) -> ImageWeight {
        making?.sourceArrived()
        // What cannot be read costs nothing, and is refused when it is processed.
        guard let making, !plan.output.isRaw, !isSentDrawing(data), let header = try? check.header(of: data) else {
            return .small
        }
        making.remember(header, of: plan.sourceBytes)
        making.remember(
            OriginSize(width: header.pixelWidth, height: header.pixelHeight, byteCount: data.count)
        )
        return making.weight(of: work(on: header))
    }

    /// How much is to be done to a source.
    func work(on header: ImageInfo) -> Capacity.Work {
        if plan.output.isRaw || keptFormats.contains(header.contentType) { return Capacity.Work(pixels: 0) }
        let result = ImageGeometry(
            source: header.displayedSize,
            plan: plan,
            resultLimit: resultLimit,
            formatLimit: plan.formatLimit
        ).size
        let isStill = header.frameCount < 2
        let preferred = preferredFormats.first {
            $0.limit.holds(result) && (isStill || FileFormat.animated.contains($0))
        }
        let format = preferred ?? plan.output.format
        let keepsFrames = format.map { FileFormat.animated.contains($0) } ?? true
        let frames = keepsFrames ? min(header.frameCount, check.maxFrames) : 1
        func pixels(_ width: Int, _ height: Int) -> Double { Double(width) * Double(height) * Double(max(frames, 1)) }
        let (encoded, weight) = (pixels(result.width, result.height), format?.pixelsOfDecoding ?? 2)
        // A sample is encoded and compared four times at most.
        let searched = findsQuality && frames == 1 ? min(encoded, 1_048_576) * (weight + 15) * 4 : 0
        return Capacity.Work(
            format: format,
            isAnimation: frames > 1,
            pixels: pixels(header.pixelWidth, header.pixelHeight) + encoded * weight + searched
        )
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        let begin = ContinuousClock.now
        defer { making?.didRun(from: begin) }
        do throws(RenderingError) {
            switch item {
            case .image(let image): return try made(of: image, options)
            case .data(let data): return try made(of: data, options)
            }
        } catch {
            making?.fail(error)
            return nil
        }
    }

    func resolved(
        for frames: any ImageFrameSource,
        _ options: KingfisherParsedOptionsInfo
    ) -> any ImageProcessor {
        guard let first = frames.frame(at: 0) else { return self }
        var steps = steps(options)
        _ = try? steps.run(on: .pixels(Image(cgImage: first)))
        var resolved = self
        (resolved.parts, resolved.isForFrames) = (steps.parts, true)
        return resolved
    }

    private func made(of data: Data, _ options: KingfisherParsedOptionsInfo) throws(RenderingError) -> Image {
        if plan.output.isRaw {
            try check.byteCount(data.count)
            return Image(anyFile: data)
        }
        if isSentDrawing(data) { return try drawing(data) }
        guard plan.output.format != .svg else {
            throw RenderingError(status: 422, kind: "format_not_writable", reason: "Only a drawing can be sent as SVG.")
        }
        let header = try check.header(of: data)
        if keptFormats.contains(header.contentType) {
            guard let file = Image(encodedResult: data) else { throw .undecodable }
            return file
        }
        let ignoresOrientation = header.orientation != .up && !plan.turning.followsOrientation
        // Borders are looked for in all pixels, and decoding at a smaller size turns the image.
        guard plan.trim.threshold != nil || ignoresOrientation else {
            return try made(of: .file(data, header), storedAs: header.orientation, options)
        }
        let whole = DefaultImageProcessor.default.process(item: .data(data), options: options)
        guard let whole else { throw .undecodable }
        try check.damage(of: whole)
        let result = try made(of: whole, options)
        if whole.isDamaged { result.markAsDamaged() }
        return result
    }

    /// Whether a source is a drawing that stays so.
    private func isSentDrawing(_ data: Data) -> Bool {
        drawings != .rasterized && ImageContentType(sniffing: data) == .svg
    }

    private func drawing(_ data: Data) throws(RenderingError) -> Image {
        try check.byteCount(data.count)
        guard let text = try? CompressedDrawing.text(of: data) ?? data else {
            throw .damaged("The drawing's gzip is damaged.")
        }
        guard drawings == .cleaned else { return Image(anyFile: text) }
        do throws(MarkupError) {
            return Image(anyFile: try DrawingCleaner.cleaned(text))
        } catch {
            throw .damaged("The drawing cannot be cleaned, see KF_SANITIZE_SVG: \(error.reason).")
        }
    }

    /// The result of pixels as they are stored.
    private func made(of image: Image, _ options: KingfisherParsedOptionsInfo) throws(RenderingError) -> Image {
        guard let bitmap = image.cgImage else { throw .undecodable }
        let orientation = plan.turning.followsOrientation ? image.imageOrientation : .up
        var stored = image.stored(as: orientation)
        if !isForFrames, let part = plan.trim.part(of: bitmap) {
            stored = image.stored(as: .up).kf.crop(to: part).stored(as: orientation)
        }
        return try made(of: .pixels(stored.kf.normalized), storedAs: orientation, options)
    }

    private func steps(_ options: KingfisherParsedOptionsInfo) -> PixelSteps {
        PixelSteps(plan, watermark, resultLimit: resultLimit, space: space, check: check, options: options)
    }

    private func made(
        of source: PixelSource,
        storedAs orientation: Orientation,
        _ options: KingfisherParsedOptionsInfo
    ) throws(RenderingError) -> Image {
        var steps = steps(options)
        (steps.parts, steps.orientation) = (parts, orientation)
        let result = try steps.run(on: source)
        if let size = steps.fittedSize, let format = plan.output.format {
            let size = "\(size.width)×\(size.height) pixels"
            making?.warn("The result was reduced to \(size), the most that \(format.rawValue) can hold.")
        }
        return result
    }
}

extension FileFormat {
    /// How many pixels are decoded in the time in which one is encoded, roughly; what is made tells better.
    fileprivate var pixelsOfDecoding: Double {
        switch self {
        case .jpeg: 1
        case .avif, .jxl: 20
        case .webp, .gif: 8
        default: 3
        }
    }
}
