// How large the watermark is on a result, and where it lies. For the renderer.

/// The size and the places of a watermark, in pixels.
package struct WatermarkGeometry: Hashable, Sendable {
    /// Where it lies, by top left corners.
    package enum Places: Hashable, Sendable {
        case once(PixelPoint)
        /// At a point, and from there in steps of a size to all sides; perhaps only on every second square.
        case tiled(PixelPoint, step: PixelSize, isChessboard: Bool)
    }

    package let size: PixelSize
    package let places: Places

    /// - Parameters:
    ///   - watermark: What the URL asks for.
    ///   - own: The size of the watermark's image.
    ///   - result: That of the result, with all that is added around it.
    ///   - dpr: The pixel ratio of the result, by which offsets are multiplied.
    package init(_ watermark: ImagePlan.Watermark, own: PixelSize, on result: PixelSize, dpr: Double) {
        size = Self.size(of: own, scale: watermark.scale, on: result)
        switch watermark.position {
        case .tiled: places = Self.tiles(watermark, size, on: result, dpr, isChessboard: false)
        case .chessboard: places = Self.tiles(watermark, size, on: result, dpr, isChessboard: true)
        default:
            let kind = Gravity.Kind(rawValue: watermark.position.rawValue) ?? .center
            let gravity = Gravity(kind, x: watermark.x, y: watermark.y)
            let place = gravity.place(size, in: result, dpr: dpr, staysInside: false) ?? PixelPoint(x: 0, y: 0)
            // However far it is moved, a corner or an edge of it stays.
            places = .once(
                PixelPoint(
                    x: min(max(place.x, 1 - size.width), result.width - 1),
                    y: min(max(place.y, 1 - size.height), result.height - 1)
                )
            )
        }
    }

    /// Fitted within a part of the result, and enlarged if it must be.
    private static func size(of own: PixelSize, scale: Double, on result: PixelSize) -> PixelSize {
        guard scale > 0 else { return own }
        var plan = ImagePlan()
        plan.resizing.width = max(1, pixelsToEven(Double(result.width) * scale))
        plan.resizing.height = max(1, pixelsToEven(Double(result.height) * scale))
        plan.resizing.enlarges = true
        return ImageGeometry(source: own, plan: plan).scaled
    }

    /// As many as cover the result, an odd number across and down: one of them is in the middle.
    private static func tiles(
        _ watermark: ImagePlan.Watermark,
        _ size: PixelSize,
        on result: PixelSize,
        _ dpr: Double,
        isChessboard: Bool
    ) -> Places {
        let space = PixelSize(
            width: max(0, Gravity.offset(watermark.x, of: result.width, dpr: dpr)),
            height: max(0, Gravity.offset(watermark.y, of: result.height, dpr: dpr))
        )
        let step = PixelSize(width: size.width + space.width, height: size.height + space.height)
        /// Where the one in the middle begins, with half of the space around it.
        func middle(_ length: Int, _ step: Int, _ space: Int) -> Int {
            let count = (length + step - 1) / step
            let odd = count.isMultiple(of: 2) ? count + 1 : count
            return odd / 2 * step - (odd * step - length) / 2 + space / 2
        }
        let point = PixelPoint(
            x: middle(result.width, step.width, space.width),
            y: middle(result.height, step.height, space.height)
        )
        return .tiled(point, step: step, isChessboard: isChessboard)
    }
}
