// By how much an image is made smaller or larger. The first half of the geometry.

/// Factors from the cropped source to the scaled image.
struct Scaling {
    private(set) var x: Double
    private(set) var y: Double
    /// The one asked for, lowered to what the source has.
    private(set) var dpr: Double

    /// The factors for a source that is turned and cropped; `extends` if a canvas makes up for what it lacks.
    init(source: PixelSize, to resizing: ImagePlan.Resizing, extends: Bool) {
        // Reductions: pixels of the source for each of the result.
        let (width, height) = (Double(source.width), Double(source.height))
        var (across, down) = Self.reductions(of: source, to: resizing)
        across /= resizing.zoomX
        down /= resizing.zoomY
        var dpr = resizing.dpr
        if !resizing.enlarges {
            let least = min(across, down)
            if least < 1 {
                across /= least
                down /= least
                if !extends { dpr /= least }
            }
            dpr = min(dpr, across, down)
        }
        if resizing.minWidth > 0, width / Double(resizing.minWidth) < across {
            down *= width / Double(resizing.minWidth) / across
            across = width / Double(resizing.minWidth)
        }
        if resizing.minHeight > 0, height / Double(resizing.minHeight) < down {
            across *= height / Double(resizing.minHeight) / down
            down = height / Double(resizing.minHeight)
        }
        // Not less than a pixel.
        (x, y) = (1 / min(across / dpr, width), 1 / min(down / dpr, height))
        self.dpr = dpr
    }

    /// Scales everything once more, but not to less than a pixel.
    mutating func reduce(by factor: Double, source: PixelSize) {
        dpr *= factor
        x = max(x * factor, 1 / Double(source.width))
        y = max(y * factor, 1 / Double(source.height))
    }

    private static func reductions(
        of source: PixelSize,
        to resizing: ImagePlan.Resizing
    ) -> (across: Double, down: Double) {
        let across = resizing.width > 0 ? Double(source.width) / Double(resizing.width) : 1
        let down = resizing.height > 0 ? Double(source.height) / Double(resizing.height) : 1
        switch (resizing.kind(for: source), resizing.width > 0, resizing.height > 0) {
        case (.force, _, _): return (across, down)
        case (_, true, false): return (across, across)
        case (_, false, true): return (down, down)
        case (.fit, _, _): return (max(across, down), max(across, down))
        default: return (min(across, down), min(across, down))
        }
    }
}

extension ImagePlan.Resizing {
    /// The kind, where `auto` is decided: fill if source and box are both wide or both tall.
    func kind(for source: PixelSize) -> Kind {
        guard kind == .auto else { return kind }
        let boxWidth = width > 0 ? width : source.width
        let boxHeight = height > 0 ? height : source.height
        return (source.width >= source.height) == (boxWidth >= boxHeight) ? .fill : .fit
    }
}
