// The indicators that come with the library. Draws nothing: a toolkit shows their views.

import Foundation
import KFImaging

/// An indicator that several loads of a view share: it is visible while one of them runs.
@MainActor
class CountingIndicator: Indicator {
    let view: IndicatorView
    private var count = 0

    init(view: IndicatorView) {
        self.view = view
        view.isHidden = true
    }

    func startAnimatingView() {
        count += 1
        view.isHidden = false
    }

    func stopAnimatingView() {
        count = max(0, count - 1)
        if count == 0 { view.isHidden = true }
    }

    func update(progress: Double) {}

    func sizeStrategy(in imageView: KFCrossPlatformImageView) -> IndicatorSizeStrategy { .intrinsicSize }
}

/// The toolkit's spinner.
@MainActor
final class ActivityIndicator: CountingIndicator {
    init() { super.init(view: SpinnerView()) }
}

/// A ring that fills as the download proceeds.
@MainActor
final class ProgressIndicator: CountingIndicator {
    private let ring = ProgressRingView()

    init() { super.init(view: ring) }

    override func startAnimatingView() {
        ring.progress = nil
        super.startAnimatingView()
    }

    override func update(progress: Double) { ring.progress = progress }
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

/// A spinner of the toolkit; it spins while it is not hidden.
@MainActor
public final class SpinnerView: KFCrossPlatformView {}

/// A ring that is filled as far as something has proceeded.
@MainActor
public final class ProgressRingView: KFCrossPlatformView {
    /// How far, from 0 to 1; nil when it is not known, and then a part of the ring goes round.
    public var progress: Double? { didSet { if progress != oldValue { renderer?.contentDidChange() } } }
}
