// Where a smaller area lies within a larger one. For crops and canvases.

/// Which axes run the other way in the stored image, where crops are rounded to whole pixels.
package struct Mirroring: Hashable, Sendable {
    package var horizontal = false
    package var vertical = false

    package init() {}
}

extension Gravity {
    /// The place of the inner area, which is within the outer one; nil if only the pixels can tell.
    ///
    /// - Parameters:
    ///   - inner: The size of what is placed.
    ///   - outer: The size of that in which it lies.
    ///   - dpr: The factor for offsets in pixels.
    ///   - mirroring: The axes along which the place is counted, and rounded, from the other end.
    ///   - staysInside: Whether an offset that would move it beyond the outer area is cut there.
    /// - Returns: The place.
    func place(
        _ inner: PixelSize,
        in outer: PixelSize,
        dpr: Double,
        mirroring: Mirroring = Mirroring(),
        staysInside: Bool = true
    ) -> PixelPoint? {
        if kind == .smart && inner != outer { return nil }
        let horizontal = Axis(
            side: horizontalSide,
            outer: outer.width,
            inner: inner.width,
            isMirrored: mirroring.horizontal,
            staysInside: staysInside
        )
        let vertical = Axis(
            side: verticalSide,
            outer: outer.height,
            inner: inner.height,
            isMirrored: mirroring.vertical,
            staysInside: staysInside
        )
        if kind == .focusPoint { return PixelPoint(x: horizontal.place(focus: x), y: vertical.place(focus: y)) }
        return PixelPoint(x: horizontal.place(offset: x, dpr: dpr), y: vertical.place(offset: y, dpr: dpr))
    }

    private var horizontalSide: Axis.Side {
        switch kind {
        case .west, .northWest, .southWest: .beginning
        case .east, .northEast, .southEast: .end
        default: .middle
        }
    }

    private var verticalSide: Axis.Side {
        switch kind {
        case .north, .northWest, .northEast: .beginning
        case .south, .southWest, .southEast: .end
        default: .middle
        }
    }

    /// Pixels of an offset: from 1 on it is a number of them, below relative.
    static func offset(_ value: Double, of length: Int, dpr: Double) -> Int {
        pixelsToEven(abs(value) >= 1 ? value * dpr : value * Double(length))
    }
}

/// A length within a longer one.
private struct Axis {
    enum Side { case beginning, middle, end }

    let side: Side
    let outer: Int
    let inner: Int
    let isMirrored: Bool
    let staysInside: Bool

    private var free: Int { staysInside ? max(outer - inner, 0) : outer - inner }

    /// The place around a point, from 0 to 1.
    func place(focus: Double) -> Int {
        clamped(counted(pixelsToEven(Double(outer) * (isMirrored ? 1 - focus : focus)) - inner / 2))
    }

    /// The place at the side, moved towards the middle or, in the middle, to the right or down.
    func place(offset: Double, dpr: Double) -> Int {
        let offset = Gravity.offset(offset, of: outer, dpr: dpr)
        return switch side {
        case .beginning: clamped(offset)
        case .middle: clamped(counted(pixelsToEven(Double(free + 1) / 2)) + offset)
        case .end: clamped(free - offset)
        }
    }

    private func counted(_ place: Int) -> Int { isMirrored ? free - place : place }

    private func clamped(_ place: Int) -> Int { staysInside ? min(max(place, 0), free) : place }
}
