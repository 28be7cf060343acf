// Views, the sizes of their images, and animations.
import Foundation
import Kingfisher

// snippet.sized
KingfisherManager.shared.defaultOptions += [.sizedToView]

@MainActor
func show(_ url: URL, in view: KFCrossPlatformImageView) {
    view.contentMode = .scaleAspectFill  // how the view is filled decides how large the image has to be
    view.kf.setImage(with: url) { result in
        guard let image = try? result.get().image else { return }
        print("decoded at \(image.pixelWidth)×\(image.pixelHeight) pixels")
    }
}
// snippet.end

// snippet.animated
@MainActor
func play(_ url: URL, in view: AnimatedImageView) {
    view.repeatCount = .finite(count: 3)
    view.kf.setImage(with: url)
}
// snippet.end

// snippet.policies
func loads(_ url: URL) async throws -> [KFCrossPlatformImage] {
    let small = KF.url(url).thumbnail(size: CGSize(width: 100, height: 100))
    return [
        try await small.animatedProcessing(.firstFrame).retrieve().image,  // a still
        try await small.animatedProcessing(.transformFrames).retrieve().image,  // an animation of small frames
        try await KF.url(url).onlyLoadFirstFrame().retrieve().image,  // a still, as large as it is
    ]
}
// snippet.end

// snippet.frames
func frames(of image: KFCrossPlatformImage) -> [(Bitmap, TimeInterval)] {
    guard let frames = image.kf.frameSource else { return [] }
    return (0..<frames.frameCount).compactMap { index in
        frames.frame(at: index).map { ($0, frames.duration(at: index)) }
    }
}
// snippet.end

// snippet.player
@MainActor
func play(_ image: KFCrossPlatformImage, draw: @escaping (KFCrossPlatformImage) -> Void) -> AnimationPlayer {
    let player = AnimationPlayer()
    player.respectsImageLoopCount = true
    player.onFrame = draw
    player.image = image
    player.attach()
    return player
}
// snippet.end

// snippet.described
@MainActor
func makeCell(_ url: URL) -> KFCrossPlatformView {
    KFImage(url).placeholder { ProgressRingView() }.resizable().sizedToView().fade(duration: 0.2).makeView()
}
// snippet.end

// snippet.button
@MainActor
func show(_ icon: URL, over background: URL, on button: KFCrossPlatformButton) {
    button.kf.setImage(with: icon)  // for: .normal unless another state is named
    button.kf.setBackgroundImage(with: background, for: .hovered)
    button.onPress = { print("pressed") }
}
// snippet.end
