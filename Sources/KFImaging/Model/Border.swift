// A line around an image, as processors draw it.

public import Foundation

/// A line along the edges of an image, inside of it.
public struct Border: Sendable, Hashable {
    /// The colour of the line.
    public var color: Color
    /// The width of the line in points.
    public var lineWidth: CGFloat
    /// The radius of the line's outer edge at the corners; at most half of the shorter side is used.
    public var radius: Radius
    /// The corners that have the radius; the others are square.
    public var roundingCorners: RectCorner

    /// A border.
    public init(
        color: Color = .black,
        lineWidth: CGFloat = 4,
        radius: Radius = .point(0),
        roundingCorners: RectCorner = .all
    ) {
        self.color = color
        self.lineWidth = lineWidth
        self.radius = radius
        self.roundingCorners = roundingCorners
    }

    /// The text that stands for the border in a cache identifier.
    package var identifierText: String {
        "\(color.identifierText)_\(lineWidth.identifierText)_\(radius.identifierText)_\(roundingCorners.identifierText)"
    }
}
