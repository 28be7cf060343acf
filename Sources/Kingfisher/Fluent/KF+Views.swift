// The part of `KF.Builder` that loads into views.

public import KFImaging

extension KF.Builder {
    /// Sets what a view shows until the image is there; buttons and objects of your own show it only if it is an image.
    ///
    /// - Parameter placeholder: An image, a view, or something of your own; nil shows nothing.
    /// - Returns: The changed copy.
    public func placeholder(_ placeholder: (any Placeholder)?) -> Self {
        var copy = copyForMutation()
        copy.placeholder = placeholder
        return copy
    }

    /// Sets what a view shows until the image is there.
    ///
    /// - Parameter image: The image; nil shows nothing.
    /// - Returns: The changed copy.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        var copy = copyForMutation()
        copy.placeholder = image
        return copy
    }

    /// Without effect: a load begins at once.
    @available(*, deprecated, message: "A load begins at once.")
    public func loadImmediately(_ start: Bool = true) -> Self { self }

    /// Loads the image and shows it in an image view.
    ///
    /// - Parameter imageView: Where.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func set(to imageView: KFCrossPlatformImageView) -> DownloadTask? {
        imageView.kf.setImage(
            with: source,
            placeholder: placeholder,
            parsedOptions: options,
            manager: manager,
            progressBlock: handlers.progress,
            completionHandler: { [handlers] in handlers.call($0) }
        )
    }

    /// Loads the image and shows it in front in a button, while that is in a state.
    ///
    /// - Parameters:
    ///   - button: The button.
    ///   - state: The state.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func set(
        to button: KFCrossPlatformButton,
        for state: KFCrossPlatformButton.ControlState = .normal
    ) -> DownloadTask? {
        set(PropertySlot.image(state, placeholderImage), of: button)
    }

    /// Loads the image and shows it behind in a button, while that is in a state.
    ///
    /// - Parameters:
    ///   - button: The button.
    ///   - state: The state.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setBackground(
        to button: KFCrossPlatformButton,
        for state: KFCrossPlatformButton.ControlState = .normal
    ) -> DownloadTask? {
        set(PropertySlot.background(state, placeholderImage), of: button)
    }

    /// Loads the image and shows it in front in a button, while that is checked.
    ///
    /// - Parameter button: The button.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setAlternative(to button: KFCrossPlatformButton) -> DownloadTask? {
        set(PropertySlot.alternate(placeholderImage), of: button)
    }

    /// Loads the image and sets it in an object of your own.
    ///
    /// - Parameter object: The object.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func set<Object: KingfisherImageSettable>(to object: Object) -> DownloadTask? {
        set(object.kf.settableSlot(placeholderImage), of: object)
    }

    @MainActor private func set<Slot: ImageSlot>(_ slot: Slot, of owner: Slot.Owner) -> DownloadTask? {
        SlotLoad<Slot>.start(
            source,
            slot,
            of: owner,
            options: options,
            manager: manager,
            progressBlock: handlers.progress,
            completion: { [handlers] in handlers.call($0) }
        )
    }

    private var placeholderImage: KFCrossPlatformImage? { placeholder as? KFCrossPlatformImage }
}
