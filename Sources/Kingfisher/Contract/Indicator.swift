// Indicators: the protocol of what image views show while they load, and the choice between them.

public import Foundation

/// The view of an indicator.
public typealias IndicatorView = KFCrossPlatformView

/// Which indicator an image view shows while it loads.
public enum IndicatorType: Sendable {
    /// None.
    case none
    /// The toolkit's spinner.
    case activity
    /// A ring that fills as the download proceeds, and turns while its length is unknown. (Not in Kingfisher.)
    case progress
    /// An image, animated or not, from its encoded bytes; no indicator when they cannot be decoded.
    case image(imageData: Data)
    /// One of your own.
    case custom(indicator: any Indicator)
}

/// Something that shows that an image view is loading.
///
/// It is started when a load begins. Every start is followed by exactly one stop: when the load has ended, or, if
/// another load of the view has superseded it, when that one has ended.
@MainActor
public protocol Indicator: Sendable {
    /// Called when a load begins; shows ``view``.
    func startAnimatingView()

    /// Called when a load has ended; hides ``view``.
    func stopAnimatingView()

    /// Called with a download's progress, if its length is known.
    ///
    /// - Parameter progress: From 0 to 1.
    func update(progress: Double)

    /// How far the indicator is from the middle of the image view, in points.
    var centerOffset: CGPoint { get }

    /// The view that is shown over the image view.
    var view: IndicatorView { get }

    /// How large the indicator is.
    ///
    /// - Parameter imageView: The image view that shows the indicator.
    /// - Returns: The rule for its size.
    func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy
}

extension Indicator {
    /// Does nothing.
    public func update(progress: Double) {}

    /// Zero: in the middle.
    public var centerOffset: CGPoint { .zero }

    /// As large as the image view.
    public func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy { .full }
}

/// How large an indicator is.
public enum IndicatorSizeStrategy: Sendable, Hashable {
    /// The size that its view requests.
    case intrinsicSize
    /// As large as the image view.
    case full
    /// A size in points.
    case size(CGSize)
}
