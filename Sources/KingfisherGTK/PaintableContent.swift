// What a paintable of a program shows, loads and plays, as long as the paintable is there. For KFPaintable.

#if canImport(CKFGTK4)
import CKFGTK
import CKFGTK4
import Kingfisher

/// The content of a paintable, which keeps it.
@MainActor
final class PaintableContent: KingfisherImageSettable {
    /// The paintable; it is there as long as its content is.
    private let paintable: OpaquePointer
    private let player = AnimationPlayer()
    private var shown: Texture?
    /// Whether the content has been drawn by some widget.
    private var isDrawn = false
    private var task: DownloadTask?
    private var motion: Motion?

    /// The content of a paintable that has none yet.
    init(of paintable: OpaquePointer) {
        self.paintable = paintable
        player.onFrame = { [weak self] in self?.draw($0) }
        player.reducesMotion = !Motion.isWanted
        motion = Motion { [weak player] in player?.reducesMotion = !Motion.isWanted }
        // The block is released with the paintable, and the content with the block.
        KFGTK.connect("drawn", of: UnsafeMutableRawPointer(paintable)) { _ in self.didDraw() }
    }

    isolated deinit { task?.cancel() }

    /// Shows an image, and plays it if it is animated.
    func show(_ image: KFCrossPlatformImage?) {
        player.image = image
        if image == nil { draw(nil) }
    }

    func load(
        _ source: (any SourceConvertible)?,
        options: KingfisherOptionsInfo?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) {
        task = kf.setImage(with: source, options: options, completionHandler: completionHandler)
    }

    func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) { show(image) }

    func getImage() -> KFCrossPlatformImage? { player.image }

    private func draw(_ image: KFCrossPlatformImage?) {
        // The frame has not been drawn yet: the animation waits until it is.
        if !isDrawn, player.isAttached { player.detach() }
        isDrawn = false
        shown = Texture.of(image, reusing: shown)
        kf_paintable_show(paintable, shown?.drawable ?? KfImage(), KF_FIT_FILL)
    }

    private func didDraw() {
        isDrawn = true
        player.attach()
    }
}
#endif
