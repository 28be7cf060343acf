// A copy of an image's pixels in the size that it is drawn in, so that drawing need not reduce it. For ImageRenderer.

#if canImport(CKFGTK4)
import KFImaging
import Kingfisher

/// The reduced copy of the image that an image view shows; made off the main thread, and made anew for another size.
@MainActor
final class DrawnCopy {
    /// Called when there is another copy, or there is none any more; not while the widget is drawn.
    private let onChange: @MainActor () -> Void
    private var image: Image?
    private var copy: Texture?
    /// The size of the copy, or of the one that is being made.
    private var size: PixelSize?
    private var work: Task<Void, Never>?

    init(onChange: @escaping @MainActor () -> Void) { self.onChange = onChange }

    isolated deinit { work?.cancel() }

    /// The copy of an image that is to be drawn in some size, in pixels; nil when there is none, or a smaller one.
    func texture(of image: Image, for drawn: PixelSize) -> Texture? {
        guard let copy, copy.image === image, copy.bitmap.covers(target(of: copy.image, drawn)) else { return nil }
        return copy
    }

    /// The size of a copy: never larger than the image on either axis.
    private func target(of image: Image, _ drawn: PixelSize) -> PixelSize {
        PixelSize(min(drawn.width, image.pixelWidth), min(drawn.height, image.pixelHeight))
    }

    /// The image has been drawn in some size.
    ///
    /// One copy is made at a time: while a window is resized, the next is of the size that the window has by then.
    ///
    /// - Parameters:
    ///   - image: The image; nil for no image, and for an image that changes with each frame.
    ///   - drawn: The size of all of it on the screen, in pixels and not turned.
    func didDraw(_ image: Image?, in drawn: PixelSize?) {
        if image !== self.image {
            work?.cancel()
            (self.image, copy, size, work) = (image, nil, nil, nil)
        }
        guard let image, let bitmap = image.cgImage, let drawn else { return }
        let target = target(of: image, drawn)
        if copy?.bitmap.covers(target) == false {
            // It would be blurred: the image itself is drawn until there is another.
            (copy, size) = (nil, work == nil ? nil : size)
            change()
        }
        guard work == nil, target != size, Self.isWorthwhile(target, bitmap.size) else { return }
        size = target
        work = Task { [weak self] in
            let reduced = await bitmap.reducedOffMain(to: target)
            guard !Task.isCancelled, let self else { return }
            work = nil
            if let reduced { copy = Texture(image, reduced) }
            onChange()
        }
    }

    private func change() {
        CallbackQueue.mainAsync.execute { [weak self] in MainActor.assumeIsolated { self?.onChange() } }
    }

    /// Whether drawing the image itself would leave out so many pixels that the loss is visible.
    ///
    /// Images that are decoded for their view are a little larger than it, and interpolation is good enough for them: a
    /// copy would take nearly as much memory again.
    private static func isWorthwhile(_ target: PixelSize, _ image: PixelSize) -> Bool {
        Double(target.width) * 1.3 < Double(image.width) || Double(target.height) * 1.3 < Double(image.height)
    }
}

extension Bitmap {
    /// Whether the pixels are enough for a size.
    fileprivate func covers(_ size: PixelSize) -> Bool { width >= size.width && height >= size.height }
}
#endif
