// The sizes that follow from a scaling. The second half of the geometry.

/// The sizes of the steps after the crop.
struct Sizes {
    let scaled: PixelSize
    /// What is kept of it.
    let cut: PixelSize
    /// The canvas of `extend`.
    let extended: PixelSize
    /// That and the canvas of `extend_aspect_ratio`.
    let canvas: PixelSize
    let padding: ImagePlan.Sides
    /// With the padding.
    let result: PixelSize

    init(source: PixelSize, scaling: Scaling, plan: ImagePlan) {
        let target = Self.target(of: plan.resizing, dpr: scaling.dpr)
        scaled = PixelSize(
            width: pixels(Double(source.width) * scaling.x),
            height: pixels(Double(source.height) * scaling.y)
        )
        let fillsDown = plan.resizing.kind == .fillDown && !plan.resizing.enlarges
        cut = fillsDown ? Self.largest(with: target, in: scaled) : Self.smaller(target, scaled)
        extended = plan.canvas.extends ? cut.union(target) : cut
        canvas = plan.canvas.extendsToAspectRatio ? extended.union(Self.smallest(with: target, around: cut)) : extended
        let sides = plan.padding
        padding = ImagePlan.Sides(
            top: pixelsToEven(Double(sides.top) * scaling.dpr),
            right: pixelsToEven(Double(sides.right) * scaling.dpr),
            bottom: pixelsToEven(Double(sides.bottom) * scaling.dpr),
            left: pixelsToEven(Double(sides.left) * scaling.dpr)
        )
        result = PixelSize(
            width: canvas.width + padding.left + padding.right,
            height: canvas.height + padding.top + padding.bottom
        )
    }

    /// The box in pixels of the result; 0 where a side is not given.
    private static func target(of resizing: ImagePlan.Resizing, dpr: Double) -> PixelSize {
        func side(_ length: Int, zoom: Double) -> Int {
            length > 0 ? max(1, pixels(Double(length) * dpr * zoom)) : 0
        }
        return PixelSize(
            width: side(resizing.width, zoom: resizing.zoomX),
            height: side(resizing.height, zoom: resizing.zoomY)
        )
    }

    /// The box as far as it is given and within the image.
    private static func smaller(_ box: PixelSize, _ image: PixelSize) -> PixelSize {
        PixelSize(
            width: box.width > 0 ? min(box.width, image.width) : image.width,
            height: box.height > 0 ? min(box.height, image.height) : image.height
        )
    }

    /// The box if it is within the image, otherwise the largest part of the image with the box' proportions.
    private static func largest(with box: PixelSize, in image: PixelSize) -> PixelSize {
        guard box.width > 0, box.height > 0 else { return smaller(box, image) }
        let ratio = Double(box.width) / Double(box.height)
        let (across, down) = (Double(box.width) / Double(image.width), Double(box.height) / Double(image.height))
        if across > down && across > 1 {
            let height = max(1, pixels(Double(image.width) / ratio))
            return PixelSize(width: image.width, height: min(height, image.height))
        }
        if down > across && down > 1 {
            let width = max(1, pixels(Double(image.height) * ratio))
            return PixelSize(width: min(width, image.width), height: image.height)
        }
        return smaller(box, image)
    }

    /// The smallest size with the box' proportions that the image fits into.
    private static func smallest(with box: PixelSize, around image: PixelSize) -> PixelSize {
        guard box.width > 0, box.height > 0 else { return image }
        let ratio = Double(box.width) / Double(box.height)
        return image.union(
            PixelSize(width: pixels(Double(image.height) * ratio), height: pixels(Double(image.width) / ratio))
        )
    }
}
