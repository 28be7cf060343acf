// How a stored image is to be turned for display.

/// How the stored pixels are to be turned and mirrored for display.
///
/// The raw values are those of UIKit; `exif` is the number that files hold.
public enum Orientation: Int, Sendable, Codable, CaseIterable {
    /// As stored.
    case up
    /// Turned by 180°.
    case down
    /// Turned by 90° anticlockwise.
    case left
    /// Turned by 90° clockwise.
    case right
    /// Mirrored horizontally.
    case upMirrored
    /// Mirrored vertically.
    case downMirrored
    /// Mirrored at the falling diagonal.
    case leftMirrored
    /// Mirrored at the rising diagonal.
    case rightMirrored

    /// The orientation for an EXIF tag value; nil unless 1…8.
    ///
    /// - Parameter exif: The number in the file.
    public init?(exif: Int) {
        let cases: [Orientation] = [
            .up, .upMirrored, .down, .downMirrored, .leftMirrored, .right, .rightMirrored, .left,
        ]
        guard (1...cases.count).contains(exif) else { return nil }
        self = cases[exif - 1]
    }

    /// The EXIF tag value, 1…8.
    public var exif: Int {
        switch self {
        case .up: 1
        case .upMirrored: 2
        case .down: 3
        case .downMirrored: 4
        case .leftMirrored: 5
        case .right: 6
        case .rightMirrored: 7
        case .left: 8
        }
    }

    /// Whether display exchanges width and height.
    package var isTransposing: Bool { exif >= 5 }

    /// Where display pixel (0, 0) is stored, and how that place moves with a step in display x and in display y.
    package func walk(through stored: PixelSize) -> (
        start: (x: Int, y: Int), dx: (x: Int, y: Int), dy: (x: Int, y: Int)
    ) {
        let (right, bottom) = (stored.width - 1, stored.height - 1)
        return switch self {
        case .up: ((0, 0), (1, 0), (0, 1))
        case .upMirrored: ((right, 0), (-1, 0), (0, 1))
        case .down: ((right, bottom), (-1, 0), (0, -1))
        case .downMirrored: ((0, bottom), (1, 0), (0, -1))
        case .leftMirrored: ((0, 0), (0, 1), (1, 0))
        case .right: ((0, bottom), (0, -1), (1, 0))
        case .rightMirrored: ((right, bottom), (0, -1), (-1, 0))
        case .left: ((right, 0), (0, 1), (-1, 0))
        }
    }
}
