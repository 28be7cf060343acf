// A place of an object that shows images, and the state of its newest load. For SlotLoad, which does the loading.

import Foundation
import KFImaging
import KFSupport

/// The identity of a place for an image among the places of one object.
enum ImagePlace: Hashable, Sendable {
    /// The only image, or that of a button in a state.
    case image(KFCrossPlatformButton.ControlState = .normal)
    /// The image behind, in a state.
    case background(KFCrossPlatformButton.ControlState)
    /// The image of a checked button.
    case alternate
}

/// A place of an object that shows images: its identity, and how loads change what is there.
@MainActor
protocol ImageSlot<Owner>: Sendable {
    /// The type of object that the place belongs to.
    associatedtype Owner: AnyObject, Sendable

    /// The identity of the place among the owner's.
    var place: ImagePlace { get }

    /// Whether nothing is shown, not even a placeholder.
    func isEmpty(_ owner: Owner) -> Bool

    /// Shows the placeholder, or nothing if there is none.
    func showPlaceholder(_ owner: Owner)

    /// The view that the place fills; nil for a place that is not a view of its own.
    func view(of owner: Owner) -> KFCrossPlatformView?

    /// Whether an image of an earlier load is still shown.
    func isShowing(_ image: KFCrossPlatformImage, _ owner: Owner) -> Bool

    /// A load begins; returns whether its progress is shown.
    func loadDidBegin(_ owner: Owner) -> Bool

    /// The download of the newest load has proceeded, on a scale from 0 to 1.
    func loadDidProceed(_ owner: Owner, to progress: Double)

    /// A load has ended, whether it was the newest or not.
    func loadDidEnd(_ owner: Owner)

    /// Shows an image instead of the placeholder; nil shows nothing.
    func show(_ image: KFCrossPlatformImage?, _ owner: Owner, _ options: KingfisherParsedOptionsInfo)

    /// Shows a loaded image, at once or by a transition, and calls `completion` when it is there.
    func show(
        _ result: RetrieveImageResult,
        _ owner: Owner,
        _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @MainActor () -> Void
    )
}

extension ImageSlot {
    func view(of owner: Owner) -> KFCrossPlatformView? { nil }

    func isShowing(_ image: KFCrossPlatformImage, _ owner: Owner) -> Bool { false }

    func loadDidBegin(_ owner: Owner) -> Bool { false }

    func loadDidProceed(_ owner: Owner, to progress: Double) {}

    func loadDidEnd(_ owner: Owner) {}

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

/// The newest load for one place.
@MainActor
final class SlotState {
    /// The newest load's identifier; nil when it has ended.
    var identifier: Source.Identifier.Value?
    /// The newest load's handle; nil when it has ended.
    var task: DownloadTask?
    private var observer: SlotLoadObserver?
    /// The wait for the first layout of the view, which owns it; nil when the newest load does not wait for it.
    weak var layoutWait: LayoutWait?

    /// The load that is under way is no longer wanted.
    ///
    /// If it has not begun its download, it ends without one; a download that is under way goes on for the cache.
    func supersede() {
        observer?.supersede()
        layoutWait?.end.fulfil(())
        (identifier, task, observer) = (nil, nil, nil)
    }

    /// Makes a new load the current one.
    func begin() -> (identifier: Source.Identifier.Value, observer: SlotLoadObserver) {
        supersede()
        let observer = SlotLoadObserver()
        Self.lastIdentifier += 1
        (identifier, self.observer) = (Self.lastIdentifier, observer)
        return (Self.lastIdentifier, observer)
    }

    private static var lastIdentifier: Source.Identifier.Value = 0
}

/// The states of one object's places, in a table of all such objects, which keeps none of them alive.
@MainActor
final class SlotStates {
    private static var table: [ObjectIdentifier: SlotStates] = [:]
    /// How many entries the table may have before those of released objects are removed.
    private static var limit = 64

    private weak let owner: AnyObject?
    private(set) var byPlace: [ImagePlace: SlotState] = [:]

    private init(of owner: AnyObject) { self.owner = owner }

    /// The places of an object that something was loaded for; nil if there are none.
    static func of(_ owner: AnyObject) -> SlotStates? {
        // The address may have been that of another object before.
        guard let states = table[ObjectIdentifier(owner)], states.owner === owner else { return nil }
        return states
    }

    /// The state of a place, made when it is needed first.
    static func state(of place: ImagePlace, in owner: AnyObject) -> SlotState {
        let states = of(owner) ?? add(owner)
        if let state = states.byPlace[place] { return state }
        let state = SlotState()
        states.byPlace[place] = state
        return state
    }

    private static func add(_ owner: AnyObject) -> SlotStates {
        if table.count >= limit {
            table = table.filter { $0.value.owner != nil }
            limit = max(64, 2 * table.count)
        }
        let states = SlotStates(of: owner)
        table[ObjectIdentifier(owner)] = states
        return states
    }
}

/// Whether a load is still the one its slot waits for.
final class SlotLoadObserver: LoadObserver {
    private let isSuperseded = Locked(false)

    var isWanted: Bool { !isSuperseded.withLock { $0 } }

    func supersede() { isSuperseded.withLock { $0 = true } }
}
