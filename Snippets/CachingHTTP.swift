//! Images as their servers say, and a refresh that shows the cached image first.
import Foundation
import Kingfisher

KingfisherManager.shared.defaultOptions = [.respectCacheControl]

func refresh(_ url: URL, show: @escaping @Sendable (KFCrossPlatformImage) -> Void) async throws {
    let options: KingfisherOptionsInfo = [.refreshCached, .onStaleImage { stale in show(stale.image) }]
    let result = try await KingfisherManager.shared.retrieveImage(with: url, options: options)
    show(result.image)
    if case .failed(let error) = result.revalidation { print("still the old image:", error.localizedDescription) }
}
