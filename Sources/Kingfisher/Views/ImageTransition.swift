// The transitions from the image that a view showed before to a loaded one. The views of each toolkit animate them.

public import Foundation
public import KFImaging

/// How a loaded image appears in an image view.
///
/// A view that is not on a screen, and a desktop whose user has turned animations off, show the image at once.
public enum ImageTransition: Sendable {
    /// At once.
    case none
    /// The old image fades into the new one, within so many seconds.
    case fade(TimeInterval)
    /// The view turns over, its left edge coming to the front, within so many seconds.
    case flipFromLeft(TimeInterval)
    /// The view turns over, its right edge coming to the front, within so many seconds.
    case flipFromRight(TimeInterval)
    /// The view turns over, its top edge coming to the front, within so many seconds.
    case flipFromTop(TimeInterval)
    /// The view turns over, its bottom edge coming to the front, within so many seconds.
    case flipFromBottom(TimeInterval)
    /// A transition of your own.
    ///
    /// `animations` is called once, at the beginning, and has to set the image; nil sets it plainly. `completion` is
    /// called after `duration` seconds, with false if another image came before.
    indirect case custom(
        duration: TimeInterval,
        options: TransitionOptions = [],
        animations: (@MainActor @Sendable (KFCrossPlatformImageView, KFCrossPlatformImage) -> Void)? = nil,
        completion: (@MainActor @Sendable (_ finished: Bool) -> Void)? = nil
    )

    /// The options of a custom transition; there are none on Linux.
    public struct TransitionOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt

        /// Options from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }

    /// How long it takes, in seconds; 0 for none, and for values that are not positive numbers.
    var duration: TimeInterval {
        let seconds =
            switch self {
            case .none: 0.0
            case .fade(let duration): duration
            case .flipFromLeft(let duration), .flipFromRight(let duration): duration
            case .flipFromTop(let duration), .flipFromBottom(let duration): duration
            case .custom(let duration, _, _, _): duration
            }
        return seconds > 0 && seconds.isFinite ? seconds : 0
    }

    /// Whether there is none.
    var isNone: Bool { if case .none = self { true } else { false } }
}
