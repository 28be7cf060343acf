// How an image wants to be shown, beyond its pixels: kept with it, for views and for programs that draw images.

public import Foundation

extension Image {
    /// How the colours of an image count where it is shown.
    public enum RenderingMode: Int, Sendable, Hashable {
        /// As the view has it.
        case automatic
        /// The image is shown in its colours.
        case alwaysOriginal
        /// The image is a mask: its opacity counts, the colour is that of the text around it.
        case alwaysTemplate
    }

    /// Distances from the edges of an image, in points.
    public struct EdgeInsets: Sendable, Hashable {
        /// From the top edge.
        public var top: CGFloat
        /// From the left edge.
        public var left: CGFloat
        /// From the bottom edge.
        public var bottom: CGFloat
        /// From the right edge.
        public var right: CGFloat

        /// Creates insets.
        public init(top: CGFloat = 0, left: CGFloat = 0, bottom: CGFloat = 0, right: CGFloat = 0) {
            (self.top, self.left, self.bottom, self.right) = (top, left, bottom, right)
        }

        /// No distances.
        public static let zero = EdgeInsets()
    }

    /// The wishes of an image.
    package struct Display: Sendable, Hashable {
        package var renderingMode = RenderingMode.automatic
        package var flipsForRightToLeftLayoutDirection = false
        package var alignmentRectInsets = EdgeInsets.zero
    }

    /// How the colours of the image count where it is shown.
    ///
    /// It is kept with the image, and is not stored in files. Widgets of `KingfisherGTK` show all images in their
    /// colours.
    public var renderingMode: RenderingMode { metadata.display.renderingMode }

    /// Whether left and right are exchanged where text runs from right to left.
    ///
    /// It is kept with the image, and is not stored in files. Widgets of `KingfisherGTK` never do it.
    public var flipsForRightToLeftLayoutDirection: Bool { metadata.display.flipsForRightToLeftLayoutDirection }

    /// How far the part that is to be aligned with other things is from the edges; kept with the image only.
    public var alignmentRectInsets: EdgeInsets { metadata.display.alignmentRectInsets }

    /// The same image with another rendering mode.
    ///
    /// - Parameter mode: The mode.
    /// - Returns: The new image; the image itself when nothing changes.
    public func withRenderingMode(_ mode: RenderingMode) -> Image { withDisplay { $0.renderingMode = mode } }

    /// The same image, to be flipped where text runs from right to left.
    ///
    /// - Returns: The new image; the image itself when nothing changes.
    public func imageFlippedForRightToLeftLayoutDirection() -> Image {
        withDisplay { $0.flipsForRightToLeftLayoutDirection = true }
    }

    /// The same image with other alignment insets.
    ///
    /// - Parameter insets: The insets in points.
    /// - Returns: The new image; the image itself when nothing changes.
    public func withAlignmentRectInsets(_ insets: EdgeInsets) -> Image {
        withDisplay { $0.alignmentRectInsets = insets }
    }

    private func withDisplay(_ change: (inout Display) -> Void) -> Image {
        var metadata = metadata
        change(&metadata.display)
        guard metadata.display != self.metadata.display else { return self }
        return Image(cgImage: cgImage, scale: scale, orientation: imageOrientation, metadata: metadata)
    }
}
