// All calculations with rectangles: fit, fill, anchor, canvas, thumbnail.

public import Foundation

/// How an image fills a size that has another shape.
public enum ContentMode: Sendable, Hashable, CaseIterable {
    /// Stretched to exactly the size, whatever happens to the proportions.
    case none
    /// As large as possible within the size.
    case aspectFit
    /// As small as possible with the size covered; parts beyond it are not cut off.
    case aspectFill
}

/// The radius of rounded corners.
public enum Radius: Sendable, Hashable {
    /// A part of the width: 0.5 is half of it.
    case widthFraction(CGFloat)
    /// A part of the height: 0.5 is half of it.
    case heightFraction(CGFloat)
    /// A length in points.
    case point(CGFloat)

    /// The radius in points for an image of the given size in points.
    ///
    /// - Parameter size: The size of the image.
    /// - Returns: The radius, not limited in any way.
    public func compute(with size: CGSize) -> CGFloat {
        switch self {
        case .widthFraction(let fraction): fraction * size.width
        case .heightFraction(let fraction): fraction * size.height
        case .point(let points): points
        }
    }

    /// The text that stands for the radius in a cache identifier.
    package var identifierText: String {
        switch self {
        case .widthFraction(let fraction): "w_frac_" + fraction.identifierText
        case .heightFraction(let fraction): "h_frac_" + fraction.identifierText
        case .point(let points): points.identifierText
        }
    }
}

/// A set of corners of a rectangle.
public struct RectCorner: OptionSet, Sendable, Hashable {
    /// One bit a corner.
    public let rawValue: Int

    /// A set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The top left corner.
    public static let topLeft = RectCorner(rawValue: 1)
    /// The top right corner.
    public static let topRight = RectCorner(rawValue: 2)
    /// The bottom left corner.
    public static let bottomLeft = RectCorner(rawValue: 4)
    /// The bottom right corner.
    public static let bottomRight = RectCorner(rawValue: 8)
    /// All four corners.
    public static let all: RectCorner = [.topLeft, .topRight, .bottomLeft, .bottomRight]

    /// The text that stands for the corners in a cache identifier; empty for all of them.
    package var identifierText: String { self == .all ? "" : "_corner(\(rawValue))" }
}

extension CGFloat {
    /// The shortest text that gives the number back: `10.0`, `0.5`, `1e-07`.
    package var identifierText: String { Double(self).description }
}

extension CGSize {
    /// The size in a cache identifier: `(100.0, 50.5)`.
    ///
    /// Interpolating a size prints something else on every platform.
    package var identifierText: String { "(\(width.identifierText), \(height.identifierText))" }

    /// The size this one gets for a target.
    package func resized(to target: CGSize, for mode: ContentMode) -> CGSize {
        // Nothing fits into a side that is NaN.
        if target.width.isNaN || target.height.isNaN { return target }
        return switch mode {
        case .none: target
        case .aspectFit: constrained(target)
        case .aspectFill: filling(target)
        }
    }

    /// The largest size of the same proportions within the target; no side is below 1.
    package func constrained(_ target: CGSize) -> CGSize {
        let (width, height) = sidesAlong(target)
        let size = width > target.width ? CGSize(target.width, height) : CGSize(width, target.height)
        return CGSize(max(1, size.width), max(1, size.height))
    }

    /// The smallest size of the same proportions that covers the target; no side is below 1.
    package func filling(_ target: CGSize) -> CGSize {
        let (width, height) = sidesAlong(target)
        let size = width < target.width ? CGSize(target.width, height) : CGSize(width, target.height)
        return CGSize(max(1, size.width), max(1, size.height))
    }

    /// The width that goes with the target's height, and the height that goes with its width.
    private func sidesAlong(_ target: CGSize) -> (width: CGFloat, height: CGFloat) {
        let aspect = width > 0 && height > 0 ? width / height : 1
        return ((aspect * target.height).rounded(), (target.width / aspect).rounded())
    }

    /// A rectangle of `size` at a relative place (0…1 on each axis), cut at the edges of this one.
    package func constrainedRect(for size: CGSize, anchor: CGPoint) -> CGRect {
        // A part larger than the whole is the whole, also when it is infinite.
        func part(_ length: CGFloat, of whole: CGFloat) -> CGFloat { length > whole ? whole : length }
        let size = CGSize(part(size.width, of: width), part(size.height, of: height))
        let x = min(max(anchor.x, 0), 1) * (width - size.width)
        let y = min(max(anchor.y, 0), 1) * (height - size.height)
        let (left, top) = (min(max(x, 0), width), min(max(y, 0), height))
        let (right, bottom) = (min(max(x + size.width, left), width), min(max(y + size.height, top), height))
        return CGRect(x: left, y: top, width: right - left, height: bottom - top)
    }

    fileprivate init(_ width: CGFloat, _ height: CGFloat) { self.init(width: width, height: height) }
}

extension CGPoint {
    /// The point in a cache identifier: `(0.5, 1.0)`.
    package var identifierText: String { "(\(x.identifierText), \(y.identifierText))" }
}

/// Calculations between points and pixels.
package enum Geometry {
    /// The pixels of a canvas for a size in points: rounded, at least 1 a side.
    ///
    /// Nil for sides no bitmap can have.
    package static func canvas(points: CGSize, scale: CGFloat) -> PixelSize? {
        guard let width = pixels(points.width * scale), let height = pixels(points.height * scale) else { return nil }
        let size = PixelSize(width, height)
        return size.pixelCount <= ImageDecodingLimits.default.maxPixelCount ? size : nil
    }

    private static func pixels(_ length: CGFloat) -> Int? {
        guard length.isFinite, length <= CGFloat(Int32.max) else { return nil }
        return max(1, Int(max(length, 0).rounded()))
    }

    /// The size of a thumbnail whose longer side has at most `limit` pixels.
    ///
    /// Never larger than the image; a number that is not positive is no limit.
    package static func thumbnail(of size: PixelSize, limit: Int) -> PixelSize {
        let longer = size.longerSide
        guard limit > 0, limit < longer else { return size }
        func side(_ length: Int) -> Int {
            Int((Double(length) * Double(limit) / Double(longer)).rounded())
        }
        return PixelSize(side(size.width), side(size.height))
    }

    /// The limit on the longer side, in pixels, for a thumbnail size in points; 0 when there is none.
    ///
    /// A size with a side that is NaN limits nothing, whichever side it is.
    package static func thumbnailLimit(points: CGSize, scale: CGFloat) -> Int {
        guard !points.width.isNaN, !points.height.isNaN else { return 0 }
        let limit = max(points.width, points.height) * scale
        return limit.isFinite && limit > 0 ? Int(min(max(limit.rounded(), 1), CGFloat(Int32.max))) : 0
    }

    /// A rectangle made integral outwards and cut at the edges of a bitmap; nil when nothing is left.
    package static func pixelRect(_ rect: CGRect, within size: PixelSize) -> (x: Int, y: Int, size: PixelSize)? {
        func span(_ origin: CGFloat, _ length: CGFloat, _ limit: Int) -> Range<Int>? {
            let (from, to) = (min(origin, origin + length), max(origin, origin + length))
            guard !from.isNaN, !to.isNaN, to > from else { return nil }
            let first = max(from.rounded(.down), 0)
            let last = min(to.rounded(.up), CGFloat(limit))
            return last > first ? Int(first)..<Int(last) : nil
        }
        guard let x = span(rect.origin.x, rect.size.width, size.width),
            let y = span(rect.origin.y, rect.size.height, size.height)
        else { return nil }
        return (x.lowerBound, y.lowerBound, PixelSize(x.count, y.count))
    }
}
