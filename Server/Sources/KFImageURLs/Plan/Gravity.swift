// Which part of an image a crop keeps, and where an image lies on a canvas. For the plan and the geometry.

/// A place within a larger area.
package struct Gravity: Hashable, Sendable {
    /// The sides, and what is not a side.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case center = "ce"
        case north = "no"
        case south = "so"
        case east = "ea"
        case west = "we"
        case northEast = "noea"
        case northWest = "nowe"
        case southEast = "soea"
        case southWest = "sowe"
        /// A point, relative to the larger area.
        case focusPoint = "fp"
        /// Where the most is to be seen; only the pixels tell.
        case smart = "sm"
    }

    package var kind = Kind.center
    /// The distance from the side, or to the right of the centre; for a focus point its place, from 0 to 1.
    ///
    /// From 1 on these are pixels, below 1 it is relative to the width of the larger area.
    package var x = 0.0
    /// The same for the height.
    package var y = 0.0

    package init(_ kind: Kind = .center, x: Double = 0, y: Double = 0) {
        (self.kind, self.x, self.y) = (kind, x, y)
    }
}
