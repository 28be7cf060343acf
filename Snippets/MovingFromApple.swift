// An app's code on Apple's systems and on Linux.
import Foundation
import Kingfisher

// snippet.aliases
#if os(Linux)
typealias UIImage = KFCrossPlatformImage
typealias UIImageView = KFCrossPlatformImageView
typealias UIColor = KFCrossPlatformColor
#endif

@MainActor
func show(_ url: URL, in view: UIImageView, placeholder: UIImage?) {
    view.kf.setImage(with: url, placeholder: placeholder, options: [.transition(.fade(0.3)), .cacheOriginalImage])
}
// snippet.end

// snippet.isolation
@MainActor
final class Gallery {
    var images: [URL: UIImage] = [:]

    func load(_ url: URL) {
        KingfisherManager.shared.retrieveImage(with: url) { [weak self] result in
            guard let image = try? result.get().image else { return }
            MainActor.assumeIsolated { self?.images[url] = image }  // handlers are called on the main queue
        }
    }

    func load(_ url: URL) async throws {
        images[url] = try await KingfisherManager.shared.retrieveImage(with: url).image
    }
}
// snippet.end
