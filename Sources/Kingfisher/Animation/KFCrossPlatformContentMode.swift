// How an image is fitted to a view, and how many pixels that takes. Used by image views and `FrameAnimator`.

import Foundation
import KFImaging

/// How an image is fitted to a view of another shape.
public enum KFCrossPlatformContentMode: Sendable, Hashable, CaseIterable {
    /// Stretched to exactly the view, without regard to the proportions.
    case scaleToFill
    /// As large as possible within the view.
    case scaleAspectFit
    /// As small as possible while covering the view.
    case scaleAspectFill
    /// In its own size, in the middle.
    case center

    /// The size that an image has to be decoded at for a view.
    ///
    /// The size has the proportions of the image; if the image is stretched, no side is below the view's.
    ///
    /// - Parameters:
    ///   - image: The size of the image, in any unit.
    ///   - size: The size of the view in points.
    ///   - scale: Pixels a point of the view.
    /// - Returns: The size in pixels; nil when the image is needed at its full size.
    func pixels(of image: CGSize, in size: CGSize, scale: CGFloat) -> CGSize? {
        let view = CGSize(width: size.width * scale, height: size.height * scale)
        let isSensible = view.width > 0 && view.height > 0 && view.width.isFinite && view.height.isFinite
        guard isSensible, image.width > 0, image.height > 0 else { return nil }
        return switch self {
        case .scaleToFill, .scaleAspectFill: image.resized(to: view, for: .aspectFill)
        case .scaleAspectFit: image.resized(to: view, for: .aspectFit)
        case .center: nil
        }
    }
}
