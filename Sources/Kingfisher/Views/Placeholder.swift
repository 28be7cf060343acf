// The protocol of placeholders, which image views show until their image is there.

public import KFImaging

/// Something an image view shows until its image is there: an image, or a view over it.
@MainActor
public protocol Placeholder: Sendable {
    /// Shows the placeholder.
    ///
    /// - Parameter imageView: The view that shows it.
    func add(to imageView: KFCrossPlatformImageView)

    /// Takes the placeholder away.
    ///
    /// - Parameter imageView: The view it was added to.
    func remove(from imageView: KFCrossPlatformImageView)
}

extension Image: Placeholder {
    /// Shows the image.
    public func add(to imageView: KFCrossPlatformImageView) { imageView.image = self }

    /// Leaves the view without an image.
    public func remove(from imageView: KFCrossPlatformImageView) { imageView.image = nil }
}

extension Placeholder where Self: KFCrossPlatformView {
    /// Adds the view over the image view, in its middle, and clears the image: as large as the image view, but for
    /// spinners and rings, which keep their own size.
    public func add(to imageView: KFCrossPlatformImageView) {
        imageView.image = nil
        imageView.addSubview(self)
    }

    /// Removes the view.
    public func remove(from imageView: KFCrossPlatformImageView) { removeFromSuperview() }
}
