// The steps from a source to the pixels of a result, in the order that the URL language gives them. For PlanProcessor.

import Foundation
import KFImageURLs
@_spi(Server) import Kingfisher

/// What a run takes over from the one for the first frame: parts found by looking at pixels; nil until then.
struct FoundParts {
    /// In the image that the crop is taken from.
    var cropped: CGRect?
    var cut: CGRect?
    /// The watermark in its size on the result.
    var watermark: Image?
}

/// One run of a plan.
struct PixelSteps {
    private let plan: ImagePlan
    private let watermark: Watermark?
    private let resultLimit: Int
    private let space: WorkingSpace
    private let check: SourceCheck
    private let options: KingfisherParsedOptionsInfo
    /// How the source was stored, before it was turned upright.
    var orientation = Orientation.up
    /// What is known before the run is taken from here, what the run finds is put here.
    var parts = FoundParts()
    /// The size of the result, if it is smaller than the plan asks for since the format holds no more.
    private(set) var fittedSize: PixelSize?

    init(
        _ plan: ImagePlan,
        _ watermark: Watermark?,
        resultLimit: Int,
        space: WorkingSpace,
        check: SourceCheck,
        options: KingfisherParsedOptionsInfo
    ) {
        (self.watermark, self.space) = (watermark, space)
        (self.plan, self.resultLimit, self.check, self.options) = (plan, resultLimit, check, options)
    }

    /// The result; an error if the source is damaged and may not be, or something would be too large.
    ///
    /// It is marked as damaged if a part of the source is missing.
    mutating func run(on source: PixelSource) throws(RenderingError) -> Image {
        let geometry = geometry(of: source)
        try check.sizes(of: geometry)
        if geometry.isFittedToFormat { fittedSize = geometry.size }
        guard let scaled = scaled(source, geometry) else { throw .undecodable }
        try check.damage(of: scaled)
        try checkIsWanted()
        guard let turned = turned(scaled), let cut = cut(turned, geometry.cut) else { throw .noMemory }
        try checkIsWanted()
        guard let changed = changed(cut) else { throw .noMemory }
        try checkIsWanted()
        guard let result = onCanvas(changed, geometry), PixelSource.pixels(result).size == geometry.size else {
            throw .noMemory
        }
        let marked = try marked(result, dpr: geometry.dpr)
        if scaled.isDamaged { marked.markAsDamaged() }
        return marked
    }

    private func checkIsWanted() throws(RenderingError) { if Task.isCancelled { throw .clientLeft } }

    private func geometry(of source: PixelSource) -> ImageGeometry {
        var plan = plan
        if source.isDrawing { plan.resizing.enlarges = true }
        return ImageGeometry(
            source: source.size,
            orientation: orientation.exif,
            plan: plan,
            resultLimit: resultLimit,
            formatLimit: plan.formatLimit
        )
    }

    private func applied(_ processor: some ImageProcessor, to image: Image) -> Image? {
        processor.process(item: .image(image), options: options)
    }

    private func part(_ rect: CGRect, of image: Image) -> Image? {
        applied(RectCroppingImageProcessor(rect: rect), to: image)
    }
}

// MARK: - Cutting and scaling

extension PixelSteps {
    /// The part that the plan crops, in its final size but not turned.
    private mutating func scaled(_ source: PixelSource, _ geometry: ImageGeometry) -> Image? {
        let target = beforeTurning(geometry.scaled)
        let shown = geometry.coverage
        let coverage =
            plan.turning.transposes
            ? CGSize(width: shown.height, height: shown.width) : CGSize(width: shown.width, height: shown.height)
        let cropped: PixelSize
        switch geometry.crop {
        case .all: return source.image(of: target, covering: coverage, in: space, options)
        case .rect(let rect): cropped = beforeTurning(rect.size)
        case .smart(let size): cropped = beforeTurning(size)
        }
        // Twice as many pixels as are needed, so that the scaling that follows decides about the quality. Less than a
        // pixel of the result at the crop's edges has something of what lies beyond them then.
        let excess = min(
            Double(cropped.width) / Double(target.width),
            Double(cropped.height) / Double(target.height)
        )
        let reduction = max(1, (excess / 2).rounded(.down))
        let whole = source.size.divided(by: reduction)
        guard let image = source.image(of: whole, in: space, options),
            let rect = cropRect(geometry.crop, of: source.size, in: image, whole, reduction),
            let part = part(rect, of: image)
        else { return nil }
        return PixelSource.pixels(part).image(of: target, covering: coverage, in: space, options)
    }

    /// Where the crop lies in an image of the size `whole`, to which the source was reduced.
    private mutating func cropRect(
        _ crop: ImageGeometry.Part,
        of source: PixelSize,
        in image: Image,
        _ whole: PixelSize,
        _ reduction: Double
    ) -> CGRect? {
        switch crop {
        case .all: return nil
        case .smart(let size):
            let size = beforeTurning(size).divided(by: reduction)
            parts.cropped = parts.cropped ?? image.kf.smartCropRect(to: size.cgSize)
            return parts.cropped
        case .rect(let rect):
            let turned = plan.turning.transposes ? source.transposed : source
            let rect = plan.turning.undone(for: rect, in: turned)
            let size = rect.size.divided(by: reduction)
            return CGRect(
                x: min(Int((Double(rect.origin.x) / reduction).rounded()), whole.width - size.width),
                y: min(Int((Double(rect.origin.y) / reduction).rounded()), whole.height - size.height),
                width: size.width,
                height: size.height
            )
        }
    }

    private func beforeTurning(_ size: PixelSize) -> PixelSize {
        plan.turning.transposes ? size.transposed : size
    }

    private func turned(_ image: Image) -> Image? {
        let turning = plan.turning
        let rotation: Orientation =
            switch turning.rotation {
            case .none: .up
            case .quarter: .right
            case .half: .down
            case .threeQuarters: .left
            }
        var image = image
        if rotation != .up {
            guard image.cgImage != nil else { return nil }
            image = image.stored(as: rotation).kf.normalized
        }
        guard turning.flipsHorizontally || turning.flipsVertically else { return image }
        let flip = FlippingImageProcessor(
            horizontal: turning.flipsHorizontally,
            vertical: turning.flipsVertically
        )
        return applied(flip, to: image)
    }

    private mutating func cut(_ image: Image, _ cut: ImageGeometry.Part) -> Image? {
        switch cut {
        case .all: return image
        case .rect(let rect):
            return part(CGRect(origin: rect.origin.cgPoint, size: rect.size.cgSize), of: image)
        case .smart(let size):
            parts.cut = parts.cut ?? image.kf.smartCropRect(to: size.cgSize)
            return parts.cut.flatMap { part($0, of: image) }
        }
    }
}

// MARK: - Effects and canvas

extension PixelSteps {
    private func changed(_ image: Image) -> Image? {
        let effects = plan.effects
        var result: Image? = image
        if effects.blur > 0 {
            result = result.flatMap { $0.kf.blurredByCutGaussian(sigma: effects.blur) }
        }
        if effects.sharpen > 0 {
            result = result.flatMap { $0.kf.sharpenedInLightness(sigma: effects.sharpen) }
        }
        if effects.pixelate > 1 { result = result.flatMap { $0.pixelated(side: effects.pixelate) } }
        return result
    }

    /// The image with all that is added around it, on its background.
    private func onCanvas(_ image: Image, _ geometry: ImageGeometry) -> Image? {
        let background = plan.background.map { color in
            KFCrossPlatformColor(
                red: Double(color.red) / 255,
                green: Double(color.green) / 255,
                blue: Double(color.blue) / 255
            )
        }
        let place = PixelPoint(
            x: geometry.position.x + geometry.padding.left,
            y: geometry.position.y + geometry.padding.top
        )
        guard let placed = image.placed(at: place, onCanvas: geometry.size) else { return nil }
        guard let background, placed.hasAlpha else { return placed }
        return applied(BlendImageProcessor(blendMode: .normal, backgroundColor: background), to: placed)
    }
}

// MARK: - Watermark

extension PixelSteps {
    /// The result with the watermark, which comes last: it lies over what was added around the image, too.
    private mutating func marked(_ result: Image, dpr: Double) throws(RenderingError) -> Image {
        guard let watermark, plan.watermark.opacity > 0 else { return result }
        let size = PixelSource.pixels(result).size
        let geometry = WatermarkGeometry(plan.watermark, own: watermark.size, on: size, dpr: dpr)
        try check.watermark(geometry.size)
        parts.watermark = parts.watermark ?? watermark.image(of: geometry.size, in: space, options)
        guard let image = parts.watermark,
            let marked = watermark.laid(image, over: result, plan.watermark, geometry.places)
        else { throw .noMemory }
        return marked
    }
}

extension Image {
    /// The image on a transparent canvas that holds all of it; nil without memory for it.
    fileprivate func placed(at place: PixelPoint, onCanvas canvas: PixelSize) -> Image? {
        guard let bitmap = cgImage, canvas != PixelSource.pixels(self).size else { return self }
        let placed = try? Bitmap.make(width: canvas.width, height: canvas.height, hasAlpha: nil) { rows, bytesPerRow in
            bitmap.withUnsafeBytes { bytes in
                for y in 0..<bitmap.height {
                    let start = (y + place.y) * bytesPerRow + place.x * 4
                    let row = bytes[y * bitmap.bytesPerRow..<y * bitmap.bytesPerRow + bitmap.width * 4]
                    UnsafeMutableRawBufferPointer(rebasing: rows[start..<start + row.count]).copyBytes(from: row)
                }
            }
        }
        return placed.map { Image(cgImage: $0) }
    }
}

extension PixelSize {
    /// Rounded, and at least a pixel.
    fileprivate func divided(by divisor: Double) -> PixelSize {
        PixelSize(
            width: max(1, Int((Double(width) / divisor).rounded())),
            height: max(1, Int((Double(height) / divisor).rounded()))
        )
    }
}

extension PixelPoint {
    fileprivate var cgPoint: CGPoint { CGPoint(x: x, y: y) }
}
