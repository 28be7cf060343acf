// How a view fills itself with a picture, and how many pixels that takes. Knows no view.

import Foundation
import KFImaging

/// How a view fills itself with a picture of another shape.
public enum KFCrossPlatformContentMode: Sendable, Hashable, CaseIterable {
    /// Stretched to exactly the view, whatever happens to the proportions.
    case scaleToFill
    /// As large as possible within the view.
    case scaleAspectFit
    /// As small as possible with the view covered.
    case scaleAspectFill
    /// In its own size, in the middle.
    case center

    /// How large a picture has to be decoded for a view.
    ///
    /// The size has the proportions of the picture: of a picture that is stretched, no side is below the view's.
    ///
    /// - Parameters:
    ///   - picture: The size of the picture, in whatever unit.
    ///   - size: The size of the view in points.
    ///   - scale: Pixels a point of the view.
    /// - Returns: The size in pixels; nil when the picture is needed at its full size.
    func pixels(of picture: CGSize, in size: CGSize, scale: CGFloat) -> CGSize? {
        let view = CGSize(width: size.width * scale, height: size.height * scale)
        let isSensible = view.width > 0 && view.height > 0 && view.width.isFinite && view.height.isFinite
        guard isSensible, picture.width > 0, picture.height > 0 else { return nil }
        return switch self {
        case .scaleToFill, .scaleAspectFill: picture.resized(to: view, for: .aspectFill)
        case .scaleAspectFit: picture.resized(to: view, for: .aspectFit)
        case .center: nil
        }
    }
}
