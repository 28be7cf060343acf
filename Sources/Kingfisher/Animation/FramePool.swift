// Frames that several animators of one animation share, so that each is decoded once, and the threads that decode
// frames. Used by `FrameAnimator` and `AnimationPlayer`.

import Dispatch
import Foundation
import KFImaging
import KFSupport

/// The frames of one animation at one size, for all animators that play it.
///
/// A frame is in memory as long as one of the animators keeps it; this holds weak references only, so that there is no
/// limit to choose and nothing to evict. The frames are decoded on one serial queue, so that the second animator which
/// wants a frame finds it.
final class SharedFrames: Sendable {
    private struct Frame: Sendable {
        weak var image: Image?
    }
    private struct State: Sendable {
        /// A copy of the source, made when the first frame is needed.
        var source: (any ImageFrameSource)?
        var delays: [TimeInterval] = []
        var frames: [Int: Frame] = [:]
    }

    let count: Int
    /// The serial queue where frames are decoded.
    let queue: DispatchQueue
    private let original: any ImageFrameSource
    /// The limit on decoded frames in pixels; nil is no limit.
    private let maxSize: CGSize?
    private let scale: CGFloat
    private let state = Locked(State())

    init(_ source: any ImageFrameSource, maxSize: CGSize?, scale: CGFloat, queue: DispatchQueue) {
        count = max(0, source.frameCount)
        (original, self.maxSize, self.scale, self.queue) = (source, maxSize, scale, queue)
    }

    /// How long each frame is shown, in seconds; to be called on the queue.
    func delays() -> [TimeInterval] {
        let source = source()
        let known = state.withLock { $0.delays }
        guard known.isEmpty else { return known }
        let delays = (0..<count).map { source.duration(at: $0) }
        state.withLock { $0.delays = delays }
        return delays
    }

    /// One frame, the same object as long as it is in memory; to be called on the queue.
    func frame(at index: Int) -> Image? {
        if let image = state.withLock({ $0.frames[index]?.image }) { return image }
        let image = source().frame(at: index, maxSize: maxSize).map { Image(cgImage: $0, scale: scale) }
        state.withLock { $0.frames[index] = Frame(image: image) }
        return image
    }

    /// Forgets all frames, also those that are not released yet; they are decoded again when they are needed.
    func forget() { state.withLock { $0.frames = [:] } }

    private func source() -> any ImageFrameSource {
        if let source = state.withLock({ $0.source }) { return source }
        let source = original.copy()
        state.withLock { $0.source = source }
        return source
    }
}

/// The animations that are being played.
enum FramePool {
    private struct Key: Hashable, Sendable {
        let source: ObjectIdentifier
        let width: CGFloat?
        let height: CGFloat?
        let scale: CGFloat
    }
    private struct Entry: Sendable {
        weak var frames: SharedFrames?
    }
    private static let entries = Locked<[Key: Entry]>([:])

    /// The frames of a source, shared by all animators that play the same object at the same size.
    ///
    /// Sources that are not class instances are not shared.
    static func frames(of source: any ImageFrameSource, maxSize: CGSize?, scale: CGFloat) -> SharedFrames {
        let new = SharedFrames(source, maxSize: maxSize, scale: scale, queue: FrameQueues.makeQueue())
        guard type(of: source) is AnyClass else { return new }
        let key = Key(
            source: ObjectIdentifier(source as AnyObject),
            width: maxSize?.width,
            height: maxSize?.height,
            scale: scale
        )
        // Frames keep their source: while those of an entry exist, no other object can have the source's address.
        return entries.withLock { entries in
            if let known = entries[key]?.frames { return known }
            entries = entries.filter { $0.value.frames != nil }
            entries[key] = Entry(frames: new)
            return new
        }
    }
}

/// Threads for decoding frames: one for each processor of the machine, however many animations there are.
///
/// On Linux the global queues of Dispatch run on the threads of the cooperative pool; serial queues without a target
/// have threads of their own.
enum FrameQueues {
    /// One serial queue for each processor; these are the targets of the animations' queues.
    static let queues = (0..<UsableProcessors.count).map { number in
        DispatchQueue(label: "kf.animation.\(number)", qos: .userInitiated)
    }
    private static let next = Locked(0)

    /// A serial queue for the frames of one animation; it shares one of the threads with others.
    static func makeQueue() -> DispatchQueue {
        let number = next.withLock { next in
            defer { next = (next + 1) % queues.count }
            return next
        }
        return DispatchQueue(label: "kf.animation", target: queues[number])
    }
}
