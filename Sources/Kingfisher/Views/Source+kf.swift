// The forms of `setImage` for a `Source`, with which `.network(url)` can be written; they do what the general forms do.

public import KFImaging

extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    /// Loads an image and shows it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }
}

extension KingfisherWrapper where Base: KingfisherImageSettable {
    /// Loads an image and sets it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and sets it, see `setImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Loads an image and shows it in front, see
    /// `setImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            for: state,
            placeholder: placeholder,
            options: options,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it in front, see
    /// `setImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setImage(
        with source: Source?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setImage(
            with: source as (any SourceConvertible)?,
            for: state,
            placeholder: placeholder,
            options: options,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it behind, see
    /// `setBackgroundImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setBackgroundImage(
        with source: Source?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: source as (any SourceConvertible)?,
            for: state,
            placeholder: placeholder,
            options: options,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image and shows it behind, see
    /// `setBackgroundImage(with:for:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setBackgroundImage(
        with source: Source?,
        for state: KFCrossPlatformButton.ControlState = .normal,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: source as (any SourceConvertible)?,
            for: state,
            placeholder: placeholder,
            options: options,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }

    /// Loads an image for the checked button, see
    /// `setAlternateImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setAlternateImage(
        with source: Source?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock?,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: progressBlock,
            completionHandler: completionHandler
        )
    }

    /// Loads an image for the checked button, see
    /// `setAlternateImage(with:placeholder:options:progressBlock:completionHandler:)`.
    @MainActor @discardableResult
    public func setAlternateImage(
        with source: Source?,
        placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil,
        completionHandler: (@MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void)? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: source as (any SourceConvertible)?,
            placeholder: placeholder,
            options: options,
            progressBlock: nil,
            completionHandler: completionHandler
        )
    }
}
