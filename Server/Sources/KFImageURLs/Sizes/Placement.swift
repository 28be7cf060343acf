// Where a smaller area lies within a larger one. For crops and canvases.

extension Gravity {
    /// The place of the inner area, which is within the outer one; nil if only the pixels can tell.
    func place(_ inner: PixelSize, in outer: PixelSize, dpr: Double) -> PixelPoint? {
        let free = PixelSize(width: outer.width - inner.width, height: outer.height - inner.height)
        guard free.width > 0 || free.height > 0 else { return PixelPoint(x: 0, y: 0) }
        let place: PixelPoint
        switch kind {
        case .smart:
            return nil
        case .focusPoint:
            place = PixelPoint(
                x: pixelsToEven(Double(outer.width) * x) - inner.width / 2,
                y: pixelsToEven(Double(outer.height) * y) - inner.height / 2
            )
        default:
            place = PixelPoint(
                x: Self.distance(horizontalSide, free: free.width, offset: Self.offset(x, of: outer.width, dpr: dpr)),
                y: Self.distance(verticalSide, free: free.height, offset: Self.offset(y, of: outer.height, dpr: dpr))
            )
        }
        return PixelPoint(x: min(max(place.x, 0), max(free.width, 0)), y: min(max(place.y, 0), max(free.height, 0)))
    }

    private enum Side { case beginning, middle, end }

    private var horizontalSide: Side {
        switch kind {
        case .west, .northWest, .southWest: .beginning
        case .east, .northEast, .southEast: .end
        default: .middle
        }
    }

    private var verticalSide: Side {
        switch kind {
        case .north, .northWest, .northEast: .beginning
        case .south, .southWest, .southEast: .end
        default: .middle
        }
    }

    /// Pixels of an offset: from 1 on it is a number of them, below relative.
    private static func offset(_ value: Double, of length: Int, dpr: Double) -> Int {
        pixelsToEven(abs(value) >= 1 ? value * dpr : value * Double(length))
    }

    private static func distance(_ side: Side, free: Int, offset: Int) -> Int {
        switch side {
        case .beginning: offset
        case .middle: pixelsToEven(Double(free) / 2) + offset
        case .end: free - offset
        }
    }
}
