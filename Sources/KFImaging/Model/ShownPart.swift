// The part of a file's image that an image shows, and how it is turned there. For gain maps, which follow their image.

package import Foundation

/// Where the points of an image lie in the pixels of its file: a part of these, which may be turned and mirrored.
///
/// Places are shares of the stored width and height, from the upper left corner.
package struct ShownPart: Sendable, Hashable {
    /// The place of the upper left corner of the image as it is displayed.
    private var corner = SIMD2(0.0, 0.0)
    /// The way from there to its upper right corner.
    private var across = SIMD2(1.0, 0.0)
    /// The way from there to its lower left corner.
    private var down = SIMD2(0.0, 1.0)

    /// All of an image that is stored in an orientation.
    package init(storedAs orientation: Orientation) { self = turned(by: orientation) }

    /// The same part where what is displayed is turned further, as an image that is stored in this orientation is.
    package func turned(by orientation: Orientation) -> ShownPart {
        let walk = orientation.walk(through: PixelSize(2, 2))
        func way(_ step: (x: Int, y: Int)) -> SIMD2<Double> { Double(step.x) * across + Double(step.y) * down }
        var turned = self
        (turned.corner, turned.across, turned.down) = (corner + way(walk.start), way(walk.dx), way(walk.dy))
        return turned
    }

    /// A part of what is displayed.
    ///
    /// - Parameter part: In shares of the displayed width and height; may reach a little beyond the edges.
    /// - Returns: The smaller part.
    package func part(_ part: CGRect) -> ShownPart {
        var smaller = self
        smaller.corner += Double(part.origin.x) * across + Double(part.origin.y) * down
        (smaller.across, smaller.down) = (Double(part.size.width) * across, Double(part.size.height) * down)
        return smaller
    }

    /// The part in a rectangle of an image in this size.
    package func part(_ rect: PixelRect, of size: PixelSize) -> ShownPart {
        let (width, height) = (Double(size.width), Double(size.height))
        return part(
            CGRect(
                x: Double(rect.x) / width,
                y: Double(rect.y) / height,
                width: Double(rect.size.width) / width,
                height: Double(rect.size.height) / height
            )
        )
    }

    /// The stored columns, 0…1; of a part that lies outside, the edge.
    package var columns: ClosedRange<Double> { range(\.x) }

    /// The stored rows, 0…1; of a part that lies outside, the edge.
    package var rows: ClosedRange<Double> { range(\.y) }

    /// How the stored part is turned for display.
    package var orientation: Orientation {
        func signs(_ way: SIMD2<Double>) -> (Int, Int) { (way.x.sign(), way.y.sign()) }
        return Orientation.allCases.first { orientation in
            let walk = orientation.walk(through: PixelSize(2, 2))
            return walk.dx == signs(across) && walk.dy == signs(down)
        } ?? .up
    }

    private func range(_ axis: KeyPath<SIMD2<Double>, Double>) -> ClosedRange<Double> {
        let (one, other) = (corner[keyPath: axis], (corner + across + down)[keyPath: axis])
        let low = min(max(0, min(one, other)), 1)
        return low...max(low, min(1, max(one, other)))
    }
}

extension Double {
    /// 1, 0 or -1.
    fileprivate func sign() -> Int { self > 0 ? 1 : self < 0 ? -1 : 0 }
}
