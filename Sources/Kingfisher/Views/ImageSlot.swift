// A place of an object that shows images, and what is being loaded for it. Knows no loading.

import Foundation
import KFImaging
import KFSupport

/// What distinguishes the places of one object.
enum ImagePlace: Hashable, Sendable {
    /// The only picture, or that of a button in a state.
    case image(KFCrossPlatformButton.ControlState = .normal)
    /// The picture behind, in a state.
    case background(KFCrossPlatformButton.ControlState)
    /// The picture of a checked button.
    case alternate
}

/// A place of an object that shows images: its identity, and how loads change what is there.
@MainActor
protocol ImageSlot<Owner>: Sendable {
    /// What the place belongs to.
    associatedtype Owner: AnyObject, Sendable

    /// What distinguishes the place from the owner's others.
    var place: ImagePlace { get }

    /// Whether nothing is shown, not even a placeholder.
    func isEmpty(_ owner: Owner) -> Bool

    /// Shows the placeholder, or nothing if there is none.
    func showPlaceholder(_ owner: Owner)

    /// A load begins; returns how its end and its progress are shown.
    func willLoad(_ owner: Owner) -> LoadIndication?

    /// Shows a picture instead of the placeholder; nil shows nothing.
    func show(_ image: KFCrossPlatformImage?, _ owner: Owner, _ options: KingfisherParsedOptionsInfo)

    /// Shows a loaded image, at once or by a transition, and calls `completion` when it is there.
    func show(
        _ result: RetrieveImageResult,
        _ owner: Owner,
        _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @MainActor () -> Void
    )
}

/// How one load is indicated.
struct LoadIndication {
    var progress: @MainActor (Double) -> Void
    /// Called once, with whether another load of the place is under way.
    var end: @MainActor (_ isAnotherLoading: Bool) -> Void
}

extension ImageSlot {
    func willLoad(_ owner: Owner) -> LoadIndication? { nil }

    func show(
        _ result: RetrieveImageResult,
        _ owner: Owner,
        _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @MainActor () -> Void
    ) {
        show(result.image, owner, options)
        completion()
    }
}

/// A place that is a property: a placeholder is an image, and nothing is animated.
struct PropertySlot<Owner: AnyObject & Sendable>: ImageSlot {
    let place: ImagePlace
    let placeholder: KFCrossPlatformImage?
    let get: @MainActor (Owner) -> KFCrossPlatformImage?
    let set: @MainActor (Owner, KFCrossPlatformImage?, KingfisherParsedOptionsInfo) -> Void

    func isEmpty(_ owner: Owner) -> Bool { get(owner) == nil }

    func showPlaceholder(_ owner: Owner) { set(owner, placeholder, KingfisherParsedOptionsInfo()) }

    func show(_ image: KFCrossPlatformImage?, _ owner: Owner, _ options: KingfisherParsedOptionsInfo) {
        set(owner, image, options)
    }
}

/// What is being loaded for one place.
@MainActor
final class SlotState {
    /// That of the newest load; nil when it has ended.
    var identifier: Source.Identifier.Value?
    /// The newest load's handle; nil when it has ended.
    var task: DownloadTask?
    private var interest: Interest?

    /// The places of an object that something was loaded for.
    static func all(of owner: AnyObject) -> SlotStates? {
        if let view = owner as? KFCrossPlatformView { return view.slotStates }
        return getAssociatedObject(owner, SlotStates.key)
    }

    /// The state of a place, made when it is needed first.
    static func of(_ owner: AnyObject, _ place: ImagePlace) -> SlotState {
        let states: SlotStates
        if let known = all(of: owner) {
            states = known
        } else {
            states = SlotStates()
            if let view = owner as? KFCrossPlatformView {
                view.slotStates = states
            } else {
                setRetainedAssociatedObject(owner, SlotStates.key, states)
            }
        }
        if let state = states.byPlace[place] { return state }
        let state = SlotState()
        states.byPlace[place] = state
        return state
    }

    /// Ends the interest in the load that is under way; it ends by itself, and its image is stored nevertheless.
    func supersede() {
        interest?.end()
        (identifier, task, interest) = (nil, nil, nil)
    }

    /// Makes a new load the current one.
    func begin() -> (identifier: Source.Identifier.Value, interest: Interest) {
        supersede()
        let interest = Interest()
        Self.lastIdentifier += 1
        (identifier, self.interest) = (Self.lastIdentifier, interest)
        return (Self.lastIdentifier, interest)
    }

    private static var lastIdentifier: Source.Identifier.Value = 0
}

/// The places of one object that something was loaded for.
@MainActor
final class SlotStates {
    var byPlace: [ImagePlace: SlotState] = [:]

    // SAFETY: it is never changed or read, only its address is used.
    nonisolated(unsafe) static let key = UnsafeRawPointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 1))
}

/// Whether the result of a load is still wanted.
final class Interest: Sendable {
    private let hasEnded = Locked(false)

    var exists: Bool { !hasEnded.withLock { $0 } }

    func end() { hasEnded.withLock { $0 = true } }
}
