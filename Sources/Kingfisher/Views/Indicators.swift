// The indicators that come with the library. Draws nothing: a toolkit shows their views.

import Foundation
import KFImaging

/// The toolkit's spinner.
@MainActor
final class ActivityIndicator: Indicator {
    let view: IndicatorView = SpinnerView()

    init() { view.isHidden = true }

    func startAnimatingView() { view.isHidden = false }

    func stopAnimatingView() { view.isHidden = true }

    func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy { .intrinsicSize }
}

/// A ring that fills as the download proceeds.
@MainActor
final class ProgressIndicator: Indicator {
    private let ring = ProgressRingView()
    var view: IndicatorView { ring }

    init() { ring.isHidden = true }

    func startAnimatingView() {
        ring.progress = nil
        ring.isHidden = false
    }

    func stopAnimatingView() { ring.isHidden = true }

    /// At 0 the ring turns: the length may not be known yet.
    func update(progress: Double) { ring.progress = progress > 0 ? progress : nil }

    func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy { .intrinsicSize }
}

/// An image, animated or not.
@MainActor
final class ImageIndicator: Indicator {
    private let imageView = KFCrossPlatformImageView()
    var view: IndicatorView { imageView }

    /// Nil when the bytes are no image; animations are decoded as a whole.
    init?(
        imageData data: Data,
        processor: any ImageProcessor = DefaultImageProcessor.default,
        options: KingfisherParsedOptionsInfo = KingfisherParsedOptionsInfo()
    ) {
        var options = options
        options.preloadAllAnimationData = true
        guard let image = processor.process(item: .data(data), options: options) else { return nil }
        imageView.contentMode = .center
        imageView.isHidden = true
        imageView.image = image
    }

    func startAnimatingView() { imageView.isHidden = false }

    func stopAnimatingView() { imageView.isHidden = true }
}

/// A spinner of the toolkit, of its own size; it spins while it is not hidden.
@MainActor
public final class SpinnerView: KFCrossPlatformView {
    override var ownSizeStrategy: IndicatorSizeStrategy { .intrinsicSize }
}

/// A ring of its own size that is filled as far as something has proceeded.
@MainActor
public final class ProgressRingView: KFCrossPlatformView {
    /// How far, from 0 to 1; nil when it is not known, and then a part of the ring goes round.
    public var progress: Double? { didSet { if progress != oldValue { renderer?.contentDidChange() } } }

    override var ownSizeStrategy: IndicatorSizeStrategy { .intrinsicSize }
}
