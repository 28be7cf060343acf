// Rectangles before and after an image is turned. For decoders, which crop before they turn.

extension ImagePlan.Turning {
    /// Whether width and height change places, beside what the source's orientation does.
    package var transposes: Bool { rotation == .quarter || rotation == .threeQuarters }

    /// Which axes of the turned image run the other way in the stored one.
    ///
    /// - Parameter exif: The orientation of the stored image, 1 to 8; without effect if the plan does not follow it.
    /// - Returns: These axes.
    package func mirroring(exif: Int) -> Mirroring {
        /// A step in the turned image, as one in the stored image.
        func before(_ step: PixelPoint) -> PixelPoint {
            var (x, y) = (flipsHorizontally ? -step.x : step.x, flipsVertically ? -step.y : step.y)
            switch rotation {
            case .none: break
            case .quarter: (x, y) = (y, -x)
            case .half: (x, y) = (-x, -y)
            case .threeQuarters: (x, y) = (-y, x)
            }
            return switch followsOrientation ? exif : 1 {
            case 2: PixelPoint(x: -x, y: y)
            case 3: PixelPoint(x: -x, y: -y)
            case 4: PixelPoint(x: x, y: -y)
            case 5: PixelPoint(x: y, y: x)
            case 6: PixelPoint(x: y, y: -x)
            case 7: PixelPoint(x: -y, y: -x)
            case 8: PixelPoint(x: -y, y: x)
            default: PixelPoint(x: x, y: y)
            }
        }
        let (right, down) = (before(PixelPoint(x: 1, y: 0)), before(PixelPoint(x: 0, y: 1)))
        var mirroring = Mirroring()
        mirroring.horizontal = right.x + right.y < 0
        mirroring.vertical = down.x + down.y < 0
        return mirroring
    }

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
