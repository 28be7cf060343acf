// A button's images: one for each state, in front and behind, and one for when it is checked. Knows no load.

public import Foundation
public import KFImaging

/// A button with images that depend on its state.
@MainActor
open class KFCrossPlatformButton: KFCrossPlatformView {
    /// A state of a button, or several at once.
    public struct ControlState: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt

        /// States from their bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// None of the others.
        public static let normal = ControlState([])
        /// Pressed.
        public static let highlighted = ControlState(rawValue: 1)
        /// It cannot be pressed.
        public static let disabled = ControlState(rawValue: 2)
        /// Checked.
        public static let selected = ControlState(rawValue: 4)
        /// It has the keyboard's focus.
        public static let focused = ControlState(rawValue: 8)
        /// The pointer is over it. (Not in Kingfisher.)
        public static let hovered = ControlState(rawValue: 16)
    }

    /// The state the button is in, set by the toolkit.
    public var state = ControlState.normal { didSet { if state != oldValue { renderer?.contentDidChange() } } }
    /// The image in front while the button is checked, instead of those of ``image(for:)``.
    open var alternateImage: KFCrossPlatformImage? { didSet { renderer?.contentDidChange() } }
    /// Called when the button is pressed.
    public var onPress: (@MainActor () -> Void)?

    private var images: [ControlState: KFCrossPlatformImage] = [:]
    private var backgroundImages: [ControlState: KFCrossPlatformImage] = [:]

    /// Whether pressing the button checks it, and pressing it again unchecks it.
    public let togglesSelection: Bool

    /// A button without images.
    ///
    /// - Parameter togglesSelection: Whether pressing it checks it, and pressing it again unchecks it.
    public init(togglesSelection: Bool = false) {
        self.togglesSelection = togglesSelection
        super.init()
    }

    /// A button without images, which pressing does not check.
    ///
    /// - Parameter frame: Its size is that of `bounds` until a toolkit lays the button out, in points.
    public convenience init(frame: CGRect) {
        self.init(togglesSelection: false)
        bounds = CGRect(origin: .zero, size: frame.size)
    }

    /// The image in front for a state.
    ///
    /// - Parameter state: The state.
    /// - Returns: Nil when none was set for this very state.
    public func image(for state: ControlState) -> KFCrossPlatformImage? { images[state] }

    /// Sets the image in front for a state.
    ///
    /// - Parameters:
    ///   - image: The image; nil for that of the normal state.
    ///   - state: The state.
    open func setImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        images[state] = image
        renderer?.contentDidChange()
    }

    /// The image behind for a state.
    ///
    /// - Parameter state: The state.
    /// - Returns: Nil when none was set for this very state.
    public func backgroundImage(for state: ControlState) -> KFCrossPlatformImage? { backgroundImages[state] }

    /// Sets the image behind for a state.
    ///
    /// - Parameters:
    ///   - image: The image; nil for that of the normal state.
    ///   - state: The state.
    open func setBackgroundImage(_ image: KFCrossPlatformImage?, for state: ControlState) {
        backgroundImages[state] = image
        renderer?.contentDidChange()
    }

    /// The image in front in the present state.
    public var currentImage: KFCrossPlatformImage? {
        if state.contains(.selected), let alternateImage { return alternateImage }
        return best(of: images)
    }

    /// The image behind in the present state.
    public var currentBackgroundImage: KFCrossPlatformImage? { best(of: backgroundImages) }

    /// The image of the state, or else of the most urgent part of it that has an image, or else of the normal state.
    private func best(of images: [ControlState: KFCrossPlatformImage]) -> KFCrossPlatformImage? {
        if let exact = images[state] { return exact }
        let parts: [ControlState] = [.disabled, .highlighted, .selected, .hovered, .focused]
        return parts.lazy.filter { self.state.contains($0) }.compactMap { images[$0] }.first ?? images[.normal]
    }
}
