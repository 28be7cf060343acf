//! Images as large as their views, for a whole program.
import Foundation
import Kingfisher

KingfisherManager.shared.defaultOptions += [.sizedToView]

@MainActor
func show(_ url: URL, in view: KFCrossPlatformImageView) {
    view.contentMode = .scaleAspectFill  // how the view is filled decides how large the image has to be
    view.kf.setImage(with: url) { result in
        guard let image = try? result.get().image else { return }
        print("decoded at \(image.pixelWidth)×\(image.pixelHeight) pixels")
    }
}
