// `button.kf`: the images of buttons.

public import KFImaging

/// The places of a button.
extension PropertySlot<KFCrossPlatformButton> {
    static func image(_ state: Owner.ControlState, _ placeholder: KFCrossPlatformImage?) -> Self {
        Self(place: .image(state), placeholder: placeholder, get: { $0.image(for: state) }) { button, image, _ in
            button.setImage(image, for: state)
        }
    }

    static func background(_ state: Owner.ControlState, _ placeholder: KFCrossPlatformImage?) -> Self {
        Self(place: .background(state), placeholder: placeholder, get: { $0.backgroundImage(for: state) }) {
            button,
            image,
            _ in
            button.setBackgroundImage(image, for: state)
        }
    }

    static func alternate(_ placeholder: KFCrossPlatformImage?) -> Self {
        Self(place: .alternate, placeholder: placeholder, get: { $0.alternateImage }) { button, image, _ in
            button.alternateImage = image
        }
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Loads an image and shows it in front while the button is in a state.
    ///
    /// As with `kf.setImage` of image views a later call for the same place wins; loads for other places and states
    /// go on.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil sets the placeholder.
    ///   - state: The state.
    ///   - placeholder: Shown until then.
    ///   - options: How the image is loaded, processed and cached; they come after those of the manager.
    ///   - manager: Loads it.
    ///   - progressBlock: Called with the download's progress, when its length is known.
    ///   - completionHandler: Called once, on the main actor, when the image is set or the load has failed.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        button.load(
            source,
            into: PropertySlot.image(state, placeholder),
            options,
            manager,
            progressBlock,
            completionHandler
        )
    }

    /// Loads an image, see
    /// `setImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: (any SourceConvertible)?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source,
            for: state,
            placeholder: placeholder,
            options: options,
            manager: manager,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it behind while the button is in a state.
    ///
    /// As with `kf.setImage` of image views a later call for the same place wins; loads for other places and states
    /// go on.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil sets the placeholder.
    ///   - state: The state.
    ///   - placeholder: Shown until then.
    ///   - options: How the image is loaded, processed and cached; they come after those of the manager.
    ///   - manager: Loads it.
    ///   - progressBlock: Called with the download's progress, when its length is known.
    ///   - completionHandler: Called once, on the main actor, when the image is set or the load has failed.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setBackgroundImage(
        with source: (any SourceConvertible)?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        button.load(
            source,
            into: PropertySlot.background(state, placeholder),
            options,
            manager,
            progressBlock,
            completionHandler
        )
    }

    /// Loads an image, see
    /// `setBackgroundImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setBackgroundImage(
        with source: (any SourceConvertible)?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: source,
            for: state,
            placeholder: placeholder,
            options: options,
            manager: manager,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it in front while the button is checked.
    ///
    /// As with `kf.setImage` of image views a later call for the same place wins; loads for other places and states
    /// go on.
    ///
    /// - Parameters:
    ///   - source: A URL or another resource, a provider of data, or a `Source`; nil sets the placeholder.
    ///   - placeholder: Shown until then.
    ///   - options: How the image is loaded, processed and cached; they come after those of the manager.
    ///   - manager: Loads it.
    ///   - progressBlock: Called with the download's progress, when its length is known.
    ///   - completionHandler: Called once, on the main actor, when the image is set or the load has failed.
    /// - Returns: A handle to cancel the load with; nil when it ended before the call returned.
    @MainActor @discardableResult
    public func setAlternateImage(
        with source: (any SourceConvertible)?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        button.load(
            source,
            into: PropertySlot.alternate(placeholder),
            options,
            manager,
            progressBlock,
            completionHandler
        )
    }

    /// Loads an image, see
    /// `setAlternateImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setAlternateImage(
        with source: (any SourceConvertible)?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        manager: KingfisherManager = .shared,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: source,
            placeholder: placeholder,
            options: options,
            manager: manager,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }
}

// MARK: Cancelling

extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Cancels the loads for the image in front, in all states.
    @MainActor
    public func cancelImageDownloadTask() {
        cancel { if case .image = $0 { true } else { false } }
    }

    /// Cancels the loads for the image behind, in all states.
    @MainActor
    public func cancelBackgroundImageDownloadTask() {
        cancel { if case .background = $0 { true } else { false } }
    }

    /// Cancels the load for the image of the checked button.
    @MainActor
    public func cancelAlternateImageDownloadTask() { cancel { $0 == .alternate } }

    /// The identifier of the load for the image in front in a state; nil when there is none.
    @MainActor
    public func taskIdentifier(for state: KFCrossPlatformButton.ControlState) -> Source.Identifier.Value? {
        identifier(of: .image(state))
    }

    /// The identifier of the load for the image behind in a state; nil when there is none.
    @MainActor
    public func backgroundTaskIdentifier(for state: KFCrossPlatformButton.ControlState) -> Source.Identifier.Value? {
        identifier(of: .background(state))
    }

    /// The identifier of the load for the image in front in the normal state; nil when there is none.
    @MainActor
    public var taskIdentifier: Source.Identifier.Value? { taskIdentifier(for: .normal) }

    /// The identifier of the load for the image of the checked button; nil when there is none.
    @MainActor
    public var alternateTaskIdentifier: Source.Identifier.Value? { identifier(of: .alternate) }

    @MainActor
    private var button: KingfisherWrapper<KFCrossPlatformButton> { KingfisherWrapper<KFCrossPlatformButton>(base) }
}
