// Rectangles before and after an image is turned. For decoders, which crop before they turn.

extension ImagePlan.Turning {
    /// Whether width and height change places, beside what the source's orientation does.
    package var transposes: Bool { rotation == .quarter || rotation == .threeQuarters }

    /// Where a rectangle of the turned image was before the rotation and the flips.
    package func undone(for rect: PixelRect, in turned: PixelSize) -> PixelRect {
        var (x, y) = (rect.origin.x, rect.origin.y)
        let right = turned.width - x - rect.size.width
        let below = turned.height - y - rect.size.height
        if flipsHorizontally { x = right }
        if flipsVertically { y = below }
        let (fromRight, fromBelow) = (
            flipsHorizontally ? rect.origin.x : right, flipsVertically ? rect.origin.y : below
        )
        let size = transposes ? rect.size.transposed : rect.size
        let origin =
            switch rotation {
            case .none: PixelPoint(x: x, y: y)
            case .quarter: PixelPoint(x: y, y: fromRight)
            case .half: PixelPoint(x: fromRight, y: fromBelow)
            case .threeQuarters: PixelPoint(x: fromBelow, y: x)
            }
        return PixelRect(origin: origin, size: size)
    }
}
