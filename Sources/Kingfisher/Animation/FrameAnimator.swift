// Plays the frames of one animation for an `AnimationPlayer`: decodes them ahead of time, and counts the time they are
// shown.
//
// The work that a change of frame makes necessary is recorded under the lock, at the change itself. One block at a time
// reads those records before every frame, so a slow decoder piles up no work and decodes nothing that has been passed.

import Dispatch
public import Foundation
public import KFImaging
import KFSupport

/// An animation that is being played: its current frame, and the frames that are in memory.
///
/// Kingfisher calls it `AnimatedImageView.Animator`; views offer that name as a `typealias`. An ``AnimationPlayer``
/// makes one for every animated image it is given.
///
/// Frames are decoded on a queue of their own, never on the caller's thread; the current one and those that follow it
/// are in memory, the others are not, unless they are few enough. Animators that play the same image at the same size
/// decode each frame once. An animator may be used from any thread.
public final class FrameAnimator: Sendable {
    /// How many frames after the current one are to be ready; 0 and less mean the next one alone.
    public let maxFrameCount: Int
    /// How many frames there are.
    public let frameCount: Int

    private struct State: Sendable {
        var playhead: Playhead
        var slots: FrameSlots
        /// Whether there is a block on the queue, or one is about to be added, which will see all pending work.
        var isMaintaining = false
        /// Whether frames will be forgotten on the queue, so that blocks that are on the queue already do nothing.
        var isToBePurged = false
        /// A frame that was ready too late, until the next tick.
        ///
        /// Without it, a decoder that cannot keep up would show nothing at all.
        var lateFrame: Image?

        /// Whether a block has to be put on the queue, where there is normally one at a time.
        mutating func beginMaintaining() -> Bool {
            let mustBegin = isToBePurged || !isMaintaining && (!slots.isPrepared || slots.needsWork)
            guard mustBegin else { return false }
            (isMaintaining, isToBePurged) = (true, false)
            return true
        }
    }
    private let state: Locked<State>
    /// The frames; nil when nothing has to be decoded.
    private let frames: SharedFrames?
    private let queue: DispatchQueue

    /// An animation of frames that are decoded when they are needed; the first ones by
    /// ``prepareFramesAsynchronously()``.
    ///
    /// - Parameters:
    ///   - source: The frames; it is copied before any is decoded.
    ///   - mode: How the view is filled with them.
    ///   - size: The size of the view in points: frames are decoded no larger than it needs. Zero means their full
    ///     size.
    ///   - imageSize: The size of the displayed image in points.
    ///   - imageScale: Pixels a point, of the frames.
    ///   - viewScale: Pixels a point of the view; nil means as many as those of the frames.
    ///   - count: How many frames after the current one are to be ready.
    ///   - repeatCount: How often it is played.
    ///   - preloadQueue: A serial queue, where frames are decoded and forgotten; nil shares a queue, as well as the
    ///     frames, with all animators of the same source and size.
    init(
        frameSource source: any ImageFrameSource,
        contentMode mode: KFCrossPlatformContentMode,
        size: CGSize,
        imageSize: CGSize,
        imageScale: CGFloat,
        viewScale: CGFloat? = nil,
        framePreloadCount count: Int,
        repeatCount: AnimationRepeatCount,
        preloadQueue: DispatchQueue?
    ) {
        let maxSize = mode.pixels(of: imageSize, in: size, scale: viewScale ?? imageScale)
        let frames =
            preloadQueue.map { SharedFrames(source, maxSize: maxSize, scale: imageScale, queue: $0) }
            ?? FramePool.frames(of: source, maxSize: maxSize, scale: imageScale)
        maxFrameCount = count
        frameCount = frames.count
        self.frames = frames
        queue = frames.queue
        state = Locked(
            State(
                playhead: Playhead(count: frameCount, repeatCount: repeatCount),
                slots: FrameSlots(preloadCount: count)
            )
        )
    }

    /// An animation of frames that are decoded already.
    ///
    /// Each is shown for its own time; the times are stretched so that together they take `duration`.
    init(preloaded frames: PreloadedFrames, repeatCount: AnimationRepeatCount, preloadQueue: DispatchQueue) {
        maxFrameCount = frames.images.count
        frameCount = frames.images.count
        (self.frames, queue) = (nil, preloadQueue)
        var slots = FrameSlots(preloadCount: frames.images.count)
        slots.prepare(frames.stretchedDelays)
        for (index, image) in frames.images.enumerated() { _ = slots.fill(index, with: image) }
        let playhead = Playhead(count: frameCount, repeatCount: repeatCount)
        state = Locked(State(playhead: playhead, slots: slots))
    }
}

extension PreloadedFrames {
    /// How long each frame is shown when all together take ``duration``.
    fileprivate var stretchedDelays: [TimeInterval] {
        let total = delays.reduce(0, +)
        guard duration.isFinite, duration > 0, total.isFinite, total > 0, duration != total else { return delays }
        return delays.map { $0 / total * duration }
    }
}

// MARK: The current frame

extension FrameAnimator {
    /// The image of the current frame; nil while it is not decoded.
    ///
    /// Its size in points may be smaller than the image's: it has no more pixels than its view needs.
    public var currentFrameImage: KFCrossPlatformImage? {
        state.withLock { $0.slots.image(at: $0.playhead.index) }
    }

    /// How long the current frame is shown, in seconds; infinite while the animation is not prepared.
    public var currentFrameDuration: TimeInterval { state.withLock { $0.slots.delay(of: $0.playhead.index) } }

    /// The number of the current frame, from 0.
    public var currentFrameIndex: Int { state.withLock { $0.playhead.index } }

    /// Whether the current frame is the last one.
    public var isLastFrame: Bool { currentFrameIndex == frameCount - 1 }

    /// How long all frames take once, in seconds, none of them counted for more than one; 0 while the animation is not
    /// prepared.
    public var loopDuration: TimeInterval { state.withLock { $0.slots.loopDuration } }

    /// Whether the animation has been played as often as it was to be.
    public var isFinished: Bool { state.withLock { $0.playhead.isFinished } }

    /// The image of a frame, if it is in memory; nothing is decoded for it.
    ///
    /// - Parameter index: The number of the frame, from 0.
    /// - Returns: The image; nil when it is not in memory, or there is no such frame.
    public func frame(at index: Int) -> KFCrossPlatformImage? { state.withLock { $0.slots.image(at: index) } }

    /// How long a frame is shown.
    ///
    /// - Parameter index: The number of the frame, from 0.
    /// - Returns: Seconds; infinite while the animation is not prepared, and when there is no such frame.
    public func duration(at index: Int) -> TimeInterval { state.withLock { $0.slots.delay(of: index) } }

    /// The position that others can play on from; nil while the animation is not prepared, or when it has an end.
    var position: FramePosition? {
        state.withLock { $0.slots.isPrepared && $0.playhead.isEndless ? $0.playhead.position : nil }
    }

    /// Whether ticks have no effect: nothing ever changes, or the animation is finished.
    var isStill: Bool { state.withLock { $0.playhead.isStill || $0.playhead.isFinished } }
}

// MARK: Time

extension FrameAnimator {
    /// Advances the animation's time, and has the frames that are needed next decoded.
    ///
    /// - Parameters:
    ///   - elapsed: Seconds since the tick before.
    ///   - catchUp: Whether further frames whose time is over are skipped.
    ///   - position: Where the time begins, if that is not the present position.
    /// - Returns: The change, and the image to be shown; nil means that the shown one stays, because the current frame
    ///   is not decoded yet.
    func tick(
        _ elapsed: TimeInterval,
        catchUp: Bool = false,
        from position: FramePosition? = nil
    ) -> (step: AnimationStep, image: Image?) {
        let (step, image, lateFrame, mustMaintain) = state.withLock { state in
            let slots = state.slots
            let step = state.playhead.tick(elapsed, catchUp: catchUp, from: position) { slots.delay(of: $0) }
            if step.hasAdvanced { state.slots.move(to: state.playhead.index) }
            let mustMaintain = step.hasAdvanced && state.beginMaintaining()
            let image = state.slots.image(at: state.playhead.index)
            return (step, image, exchange(&state.lateFrame, with: nil), mustMaintain)
        }
        if mustMaintain { maintain() }
        return (step, image ?? lateFrame)
    }
}

// MARK: Slots

extension FrameAnimator {
    /// Has the current frame and those that follow it decoded on the queue, unless they are in memory.
    func prepareFramesAsynchronously() {
        let mustMaintain = state.withLock { $0.beginMaintaining() }
        if mustMaintain { maintain() }
    }

    /// Forgets frames, on the queue; durations stay.
    ///
    /// Those that are needed are decoded again when the next frame becomes current. The images are released on the main
    /// thread.
    ///
    /// - Parameter keepCurrentFrame: Whether the current frame is left alone.
    func purgeFrames(keepCurrentFrame: Bool) {
        // Preloaded frames could not be decoded again.
        guard self.frames != nil else { return }
        state.withLock { $0.isToBePurged = true }
        queue.async { [weak self] in
            guard let dropped = self?.forgetFrames(keepCurrentFrame) else { return }
            DispatchQueue.main.async { dropped.empty() }
        }
    }

    private func forgetFrames(_ keepCurrentFrame: Bool) -> ReleasedImages {
        frames?.forget()
        return ReleasedImages(
            state.withLock { state in
                let lateFrame = exchange(&state.lateFrame, with: nil)
                return state.slots.removeAll(keepingCurrent: keepCurrentFrame) + (lateFrame.map { [$0] } ?? [])
            }
        )
    }

    /// Calls a block on the queue, after the frames that are being decoded there now.
    func afterDecoding(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }

    private func maintain() {
        queue.async { [weak self] in
            self?.makeSlots()
            // Nothing more is decoded for an animator that has been released.
            while self?.decodeNext() == true {}
        }
    }

    private func makeSlots() {
        guard let frames, !state.withLock({ $0.slots.isPrepared }) else { return }
        let delays = frames.delays()
        state.withLock { $0.slots.prepare(delays) }
    }

    /// Decodes the first frame that is missing, and returns whether there was one.
    ///
    /// The missing frames are determined anew each time, so that frames that have been passed since are not decoded.
    private func decodeNext() -> Bool {
        guard let frames, let index = nextWork() else { return false }
        let image = frames.frame(at: index)
        let replaced = state.withLock { state in
            let isLate = !state.slots.fill(index, with: image)
            return isLate && image != nil ? exchange(&state.lateFrame, with: image) : nil
        }
        return withExtendedLifetime(replaced) { true }
    }

    /// Empties the slots of frames that were left, and names the first one that is missing.
    private func nextWork() -> Int? {
        // The images are released outside the lock, when this function returns: before the next one is decoded.
        let (left, index) = state.withLock { state in
            let left = state.slots.removeLeft()
            let index = state.slots.firstMissing
            if index == nil { state.isMaintaining = false }
            return (left, index)
        }
        return withExtendedLifetime(left) { index }
    }
}

/// Images that are released by a call of ``empty()``, on the thread of that call.
private final class ReleasedImages: Sendable {
    private let images: Locked<[Image]>

    init(_ images: [Image]) { self.images = Locked(images) }

    func empty() {
        let images = images.withLock { exchange(&$0, with: []) }
        withExtendedLifetime(images) {}
    }
}
