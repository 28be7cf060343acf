// The protocol of indicators, and their types. For image views.

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
/// It is started when a load begins and no other is under way for the view, and stopped when the last of them has
/// ended, the view is released, or another indicator is set. So every start is followed by one stop.
@MainActor
public protocol Indicator: Sendable {
    /// Called when the first load begins; shows ``view``.
    func startAnimatingView()

    /// Called when the last load has ended; hides ``view``.
    func stopAnimatingView()

    /// Called with a download's progress, if its length is known, and with 0 when another load begins while it runs.
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
