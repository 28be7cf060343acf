// All sizes and places on the way from a source to a result. The handlers make it from the header of the source.

/// What is cut out, how large it becomes, and what is added around it.
///
/// The order is: turn, crop, scale, cut, lay on the canvas, add the padding.
package struct ImageGeometry: Hashable, Sendable {
    /// A part of an image.
    package enum Part: Hashable, Sendable {
        case all
        case rect(PixelRect)
        /// Of that size, where there is the most to be seen.
        case smart(PixelSize)
    }

    /// A part of a width and of a height; 1 is all of it.
    package struct Shares: Hashable, Sendable {
        package let width: Double
        package let height: Double
    }

    /// What is used of the source, after all turning; ``ImagePlan/Turning/undone(for:in:)`` says where it was before.
    package let crop: Part
    /// The size of that part after scaling.
    package let scaled: PixelSize
    /// The shares of that part's width and height that the scaled image shows, around its middle: both are scaled by
    /// exact factors, and only then are sides rounded to pixels.
    package let coverage: Shares
    /// What is kept of the scaled image.
    package let cut: Part
    /// The size of the canvas; that of the cut image where nothing is added.
    package let canvas: PixelSize
    /// Where on the canvas the image lies.
    package let position: PixelPoint
    /// What is added around the canvas.
    package let padding: ImagePlan.Sides
    /// The pixel ratio that was reached.
    package let dpr: Double
    /// Whether all is smaller than the plan asks for, since the format holds no more.
    package let isFittedToFormat: Bool

    /// The size of the result.
    package var size: PixelSize {
        PixelSize(
            width: canvas.width + padding.left + padding.right,
            height: canvas.height + padding.top + padding.bottom
        )
    }

    /// The geometry of a plan for a source.
    ///
    /// - Parameters:
    ///   - source: The source's size in pixels, after its orientation was applied if the plan asks for that.
    ///   - orientation: The orientation that the source is stored in, as EXIF numbers it.
    ///   - plan: What is asked for.
    ///   - resultLimit: The longest side of a result in pixels; 0 is no limit. The plan may name its own.
    ///   - formatLimit: What the format of the result holds.
    package init(
        source: PixelSize,
        orientation: Int = 1,
        plan: ImagePlan,
        resultLimit: Int = 0,
        formatLimit: FormatLimit = .none
    ) {
        let positive = PixelSize(width: max(source.width, 1), height: max(source.height, 1))
        let turned = plan.turning.transposes ? positive.transposed : positive
        let cropped = Self.size(of: plan.crop, in: turned)
        var scaling = Scaling(source: cropped, to: plan.resizing, extends: plan.canvas.extends)
        var sizes = Sizes(source: cropped, scaling: scaling, plan: plan)
        let limit = plan.limits.resultDimension ?? resultLimit
        if limit > 0 && sizes.result.longerSide > limit {
            scaling.reduce(by: Double(limit) / Double(sizes.result.longerSide), source: cropped)
            sizes = Sizes(source: cropped, scaling: scaling, plan: plan)
        }
        isFittedToFormat = !formatLimit.holds(sizes.result)
        // Image and padding are rounded separately, so one reduction may leave a pixel too many.
        for _ in 0..<32 {
            guard let factor = formatLimit.reduction(of: sizes.result) else { break }
            scaling.reduce(by: factor, source: cropped)
            sizes = Sizes(source: cropped, scaling: scaling, plan: plan)
        }
        let mirroring = plan.turning.mirroring(exif: orientation)
        let cropGravity = plan.crop.ownGravity ?? plan.gravity
        crop = Self.part(cropped, of: turned, cropGravity.place(cropped, in: turned, dpr: 1, mirroring: mirroring))
        scaled = sizes.scaled
        coverage = Shares(
            width: min(Double(scaled.width) / (Double(cropped.width) * scaling.x), 2),
            height: min(Double(scaled.height) / (Double(cropped.height) * scaling.y), 2)
        )
        cut = Self.part(
            sizes.cut,
            of: sizes.scaled,
            plan.gravity.place(sizes.cut, in: sizes.scaled, dpr: scaling.dpr)
        )
        canvas = sizes.canvas
        position = Self.position(of: sizes, gravities: plan.canvas, dpr: scaling.dpr)
        padding = sizes.padding
        dpr = scaling.dpr
    }

    private static func size(of crop: ImagePlan.Crop, in source: PixelSize) -> PixelSize {
        func side(_ length: Double, of whole: Int) -> Int {
            switch length {
            case 0: whole
            case ..<1: max(1, pixels(Double(whole) * length))
            default: min(whole, pixels(length.rounded(.down)))
            }
        }
        return PixelSize(width: side(crop.width, of: source.width), height: side(crop.height, of: source.height))
    }

    private static func part(_ size: PixelSize, of whole: PixelSize, _ place: PixelPoint?) -> Part {
        if size == whole { return .all }
        return place.map { .rect(PixelRect(origin: $0, size: size)) } ?? .smart(size)
    }

    /// First the canvas of the size asked for, then the one of its proportions.
    private static func position(of sizes: Sizes, gravities: ImagePlan.Canvas, dpr: Double) -> PixelPoint {
        let inner = gravities.gravity.place(sizes.cut, in: sizes.extended, dpr: dpr)
        let outer = gravities.aspectRatioGravity.place(sizes.extended, in: sizes.canvas, dpr: dpr)
        return PixelPoint(x: (inner?.x ?? 0) + (outer?.x ?? 0), y: (inner?.y ?? 0) + (outer?.y ?? 0))
    }
}
