// Where the players of one animation are in it, so that they play in phase. For AnimationPlayer.

import Foundation
import KFImaging

/// A position in an animation: a frame, and for how many seconds it has been shown.
struct FramePosition: Sendable, Equatable {
    let index: Int
    let elapsed: TimeInterval
}

/// The newest position of an animation that is played without end, by whichever of its players ticked last.
///
/// Each player has a position of its own, as one may be stopped and played again. But its first tick after a pause
/// takes it to where the others are.
@MainActor
final class AnimationPhase {
    private struct Moment {
        let position: FramePosition
        let time: TimeInterval
        let player: ObjectIdentifier
    }
    private struct Entry {
        weak var phase: AnimationPhase?
    }
    private static var entries: [ObjectIdentifier: Entry] = [:]

    /// Kept, so that no other object can have its address.
    private let animation: AnyObject
    private var last: Moment?

    private init(of animation: AnyObject) { self.animation = animation }

    /// The phase of an image, the same for all who play it.
    static func of(_ image: Image) -> AnimationPhase {
        let animation = image.frameSource.flatMap { type(of: $0) is AnyClass ? $0 as AnyObject : nil } ?? image
        if let known = entries[ObjectIdentifier(animation)]?.phase { return known }
        entries = entries.filter { $0.value.phase != nil }
        let new = AnimationPhase(of: animation)
        entries[ObjectIdentifier(animation)] = Entry(phase: new)
        return new
    }

    /// Records where a player is.
    func record(_ position: FramePosition, of player: AnyObject, at time: TimeInterval) {
        last = Moment(position: position, time: time, player: ObjectIdentifier(player))
    }

    /// Where another player was, and how many seconds ago; nil when none has ticked within a second.
    ///
    /// Clocks of different windows may be a little apart.
    func position(beside player: AnyObject, at time: TimeInterval) -> (position: FramePosition, ago: TimeInterval)? {
        guard let last, last.player != ObjectIdentifier(player), (-0.1...1).contains(time - last.time) else {
            return nil
        }
        return (last.position, max(0, time - last.time))
    }
}
