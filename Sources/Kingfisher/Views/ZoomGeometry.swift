// Where an image lies in a view that is zoomed and moved, and how it goes on moving. Values without a toolkit, for
// ZoomView.

package import Foundation

/// An image, a view, and how the one is seen through the other.
///
/// Whatever the sizes are, the image fills the view on each axis, or is in the middle of it.
package struct ZoomGeometry: Hashable, Sendable {
    /// The size of the image in its own pixels, turned as it is displayed; zero for none.
    package var image = CGSize.zero { didSet { if image != oldValue { center = image.middle } } }
    /// The size of the view, in points.
    package var view = CGSize.zero
    /// Pixels of the screen a point.
    package var scale: CGFloat = 1
    /// How large the image is.
    package var mode = ZoomView.Mode.fit { didSet { if mode == .fit, oldValue != .fit { center = image.middle } } }
    /// The least and the largest factor that the user can choose.
    package var limits: ClosedRange<CGFloat> = 0.05...16
    /// The point of the image that is to be in the middle of the view, in pixels of the image.
    private var center = CGPoint.zero

    package init() {}

    /// Whether there is something to be seen.
    package var isEmpty: Bool { !(image.isSensible && view.isSensible && scale > 0 && scale.isFinite) }

    /// Pixels of the screen for a pixel of the image; 1 when there is nothing to be seen.
    package var zoom: CGFloat {
        guard !isEmpty else { return 1 }
        return switch mode {
        case .fit: min(across, down)
        case .fill: max(across, down)
        case .actualSize: 1
        case .factor(let factor): factor.isNaN ? 1 : min(max(factor, range.lowerBound), range.upperBound)
        }
    }

    private var across: CGFloat { view.width * scale / image.width }
    private var down: CGFloat { view.height * scale / image.height }

    /// The factors that can be chosen: the limits, but never less than what makes all of the image visible, unless that
    /// would enlarge it.
    package var range: ClosedRange<CGFloat> {
        guard !isEmpty else { return limits }
        let least = max(limits.lowerBound, min(across, down, 1))
        return least...max(limits.upperBound, least)
    }

    /// The rectangle of the image in the view, in points; its corner is on a whole pixel.
    package var frame: CGRect {
        guard !isEmpty else { return .zero }
        let (size, center) = (drawnSize, clampedCenter)
        func origin(_ view: CGFloat, _ center: CGFloat) -> CGFloat {
            ((view / 2 - center * zoom / scale) * scale).rounded() / scale
        }
        return CGRect(
            origin: CGPoint(x: origin(view.width, center.x), y: origin(view.height, center.y)),
            size: size
        )
    }

    /// The size of the image in the view, in points.
    private var drawnSize: CGSize { CGSize(width: image.width * zoom / scale, height: image.height * zoom / scale) }

    /// The middle, as near as possible to what it is to be.
    private var clampedCenter: CGPoint {
        func clamped(_ center: CGFloat, _ image: CGFloat, _ view: CGFloat) -> CGFloat {
            let visible = view * scale / zoom
            return visible >= image ? image / 2 : min(max(center, visible / 2), image - visible / 2)
        }
        return CGPoint(
            x: clamped(center.x, image.width, view.width),
            y: clamped(center.y, image.height, view.height)
        )
    }

    /// The point of the image, in its pixels, that is at a point of the view.
    package func imagePoint(at point: CGPoint) -> CGPoint {
        let (center, factor) = (clampedCenter, scale / zoom)
        return CGPoint(
            x: center.x + (point.x - view.width / 2) * factor,
            y: center.y + (point.y - view.height / 2) * factor
        )
    }

    /// Changes the mode; the point of the image that is at a point of the view stays there if the edges allow it.
    package mutating func setMode(_ new: ZoomView.Mode, around point: CGPoint) {
        guard !isEmpty, point.x.isFinite, point.y.isFinite else { return mode = new }
        let fixed = imagePoint(at: point)
        mode = new
        if case .factor = new { mode = .factor(zoom) }
        let factor = scale / zoom
        center = CGPoint(
            x: fixed.x + (view.width / 2 - point.x) * factor,
            y: fixed.y + (view.height / 2 - point.y) * factor
        )
        center = clampedCenter
    }

    /// Moves the image by a distance in points, as far as its edges allow.
    ///
    /// - Returns: How far it was moved.
    @discardableResult
    package mutating func pan(by distance: CGSize) -> CGSize {
        guard !isEmpty, distance.width.isFinite, distance.height.isFinite else { return .zero }
        let before = clampedCenter
        center = CGPoint(
            x: before.x - distance.width * scale / zoom,
            y: before.y - distance.height * scale / zoom
        )
        center = clampedCenter
        let factor = zoom / scale
        return CGSize(width: (before.x - center.x) * factor, height: (before.y - center.y) * factor)
    }

    /// Whether the image is larger than the view, so that it can be moved.
    package var isPannable: Bool {
        let size = drawnSize
        return !isEmpty && (size.width > view.width + 0.5 || size.height > view.height + 0.5)
    }

    /// The size that the image has to be decoded at: its own, or that halved as often as its pixels are still enough.
    package var decodedSize: CGSize {
        var part: CGFloat = 1
        while part / 2 >= zoom, part > 1 / 1_024 { part /= 2 }
        return CGSize(width: (image.width * part).rounded(.up), height: (image.height * part).rounded(.up))
    }
}

/// A movement that slows down, after the pointer has let go.
package struct ZoomInertia: Hashable, Sendable {
    /// Points a second, on each axis.
    private var velocity: CGSize
    /// How fast the velocity goes down: to a part of 1/e in 1/4 second.
    private static let friction = 4.0
    /// What counts as rest, in points a second.
    private static let rest = 10.0

    package init(velocity: CGSize) { self.velocity = velocity }

    /// Whether it has come to rest.
    package var isAtRest: Bool {
        let speed = hypot(velocity.width, velocity.height)
        return !speed.isFinite || speed < Self.rest
    }

    /// The distance of the next piece of time, in points.
    package mutating func advance(by seconds: TimeInterval) -> CGSize {
        let part = exp(-Self.friction * max(0, seconds))
        defer { velocity = CGSize(width: velocity.width * part, height: velocity.height * part) }
        let factor = (1 - part) / Self.friction
        return CGSize(width: velocity.width * factor, height: velocity.height * factor)
    }

    /// Ends the movement on the axes on which the image could not be moved as far as it was to be.
    package mutating func stop(wanted: CGSize, moved: CGSize) {
        if abs(wanted.width - moved.width) > 0.01 { velocity.width = 0 }
        if abs(wanted.height - moved.height) > 0.01 { velocity.height = 0 }
    }
}

extension CGSize {
    fileprivate var isSensible: Bool { width > 0 && height > 0 && width.isFinite && height.isFinite }
    fileprivate var middle: CGPoint { CGPoint(x: width / 2, y: height / 2) }
}
