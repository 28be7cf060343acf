// The chained methods of descriptions that are about views; those of all loads are in KFOptionSetter.

public import Foundation
public import KFImaging

extension KFImageProtocol {
    private func with<Value>(_ part: WritableKeyPath<KFImageContext, Value>, _ value: Value) -> Self {
        var copy = copyForMutation()
        copy.context[keyPath: part] = value
        return copy
    }

    /// Adds something to be done with each image view that is made, before it has an image.
    ///
    /// - Parameter block: Called after those that were added before.
    /// - Returns: The changed copy.
    public func configure(_ block: @escaping @MainActor (HoldingView) -> Void) -> Self {
        var copy = copyForMutation()
        copy.configurations.append(block)
        return copy
    }

    // MARK: Instead of the image

    /// Sets an image that is shown until the loaded image is there, in the way that will be.
    ///
    /// - Parameter image: The image; nil shows nothing.
    /// - Returns: The changed copy.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        with(\.placeholder, image.map { .image($0) } ?? .none)
    }

    /// Sets a view that is shown until the image is there.
    ///
    /// - Parameter content: Makes the view, whenever a placeholder is shown.
    /// - Returns: The changed copy.
    public func placeholder(_ content: @escaping @MainActor () -> KFCrossPlatformView) -> Self {
        with(\.placeholder, .view(content))
    }

    /// Sets a view that is shown until the image is there, and that depends on the download's progress.
    ///
    /// - Parameter content: Makes the view, and is called again whenever the download has proceeded by a percent; the
    ///   new view takes the place of the one before. The progress counts bytes; its total is 0 until it is known.
    /// - Returns: The changed copy.
    public func placeholder(_ content: @escaping @MainActor (Progress) -> KFCrossPlatformView) -> Self {
        with(\.placeholder, .progressView(content))
    }

    /// Sets a view that is shown when loading fails; it counts more than ``KFOptionSetter/onFailureImage(_:)``.
    ///
    /// - Parameter content: Makes the view.
    /// - Returns: The changed copy.
    public func onFailureView(_ content: @escaping @MainActor () -> KFCrossPlatformView) -> Self {
        with(\.failureView, content)
    }

    // MARK: When

    /// Sets whether the load is cancelled when the view leaves the screen; it begins again when the view is back.
    public func cancelOnDisappear(_ flag: Bool) -> Self { with(\.cancelsOnDisappear, flag) }

    /// Sets whether the download's priority is low while the view is not on a screen.
    ///
    /// It concerns a download that is under way; loads that share it are concerned, too.
    public func reducePriorityOnDisappear(_ flag: Bool) -> Self { with(\.reducesPriorityOnDisappear, flag) }

    /// Sets whether the load begins soon after the view has been made, on a screen or not.
    public func startLoadingBeforeViewAppear(_ flag: Bool = true) -> Self { with(\.startsBeforeAppearing, flag) }

    /// Sets how an image that was not in a cache appears; it counts more than ``KFOptionSetter/transition(_:)`` and
    /// ``KFOptionSetter/fade(duration:)``.
    public func loadTransition(_ transition: ImageTransition) -> Self { with(\.loadTransition, transition) }
}
