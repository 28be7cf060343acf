// Helpers for tests of animations: frames that can be held back, a player on a manual clock, real files.

import Dispatch
import Foundation
import KFImaging
import KFSupport
import KingfisherTestSupport
import Testing

@testable import Kingfisher

/// Blocks threads until it is opened, and signals when the first one has arrived.
final class Barrier: Sendable {
    private let closed = DispatchSemaphore(value: 0)
    private let reached = DispatchSemaphore(value: 0)

    func pass() {
        reached.signal()
        closed.wait()
        closed.signal()
    }

    func open() { closed.signal() }

    /// Waits for the first thread to arrive.
    func waitUntilReached() { reached.wait() }
}

/// Records which frames were decoded by a source and its copies.
final class DecodeLog: Sendable {
    private struct WeakBitmap {
        weak var bitmap: Bitmap?
    }
    private struct State {
        var decoded: [Int] = []
        var readingCopies: Set<Int> = []
        var copies = 0
        var alive: [WeakBitmap] = []
        var peak = 0
        var barriers: [Int: Barrier] = [:]
        var broken: Set<Int> = []
        var limits: [CGSize?] = []
        var decodesOffQueue = 0
    }
    private let state = Locked(State())

    /// The frames that were decoded, in their order.
    var decoded: [Int] { state.withLock { $0.decoded } }
    /// The numbers of the copies that decoded frames; 0 is the original.
    var readingCopies: Set<Int> { state.withLock { $0.readingCopies } }
    var copies: Int { state.withLock { $0.copies } }
    /// The largest number of frames that were in memory at once.
    var peak: Int { state.withLock { $0.peak } }
    /// The size limits that were set.
    var limits: [CGSize?] { state.withLock { $0.limits } }
    /// The number of frames that were decoded on another queue or thread.
    var decodesOffQueue: Int { state.withLock { $0.decodesOffQueue } }

    /// Holds the decoding of a frame back, from now on.
    func hold(_ index: Int) -> Barrier {
        let barrier = Barrier()
        state.withLock { $0.barriers[index] = barrier }
        return barrier
    }

    func breakFrame(_ index: Int) { state.withLock { _ = $0.broken.insert(index) } }
    func forget() { state.withLock { $0.decoded = [] } }

    func newCopy() -> Int {
        state.withLock { state in
            state.copies += 1
            return state.copies
        }
    }

    func frame(_ index: Int, _ size: PixelSize, copyNumber: Int, limit: CGSize?) -> Bitmap? {
        let isOnQueue = DispatchQueue.getSpecific(key: FrameQueue.key) != nil
        let barrier = state.withLock { state in
            state.decoded.append(index)
            state.limits.append(limit)
            state.readingCopies.insert(copyNumber)
            state.decodesOffQueue += isOnQueue ? 0 : 1
            return state.barriers[index]
        }
        barrier?.pass()
        guard !state.withLock({ $0.broken.contains(index) }) else { return nil }
        let bitmap = Bitmap(width: size.width, height: size.height) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | UInt32(index))
        }
        state.withLock { state in
            state.alive.removeAll { $0.bitmap == nil }
            state.alive.append(WeakBitmap(bitmap: bitmap))
            state.peak = max(state.peak, state.alive.count)
        }
        return bitmap
    }
}

/// Frames whose first pixel is their number.
final class TestFrames: ImageFrameSource {
    let decodeLog: DecodeLog
    let delays: [TimeInterval]
    let loopCount: UInt
    private let number: Int
    var data: Data? { nil }
    var frameCount: Int { delays.count }

    init(_ delays: [TimeInterval], loopCount: UInt = 0, decodeLog: DecodeLog = DecodeLog(), number: Int = 0) {
        (self.delays, self.loopCount, self.decodeLog, self.number) = (delays, loopCount, decodeLog, number)
    }

    convenience init(_ count: Int, loopCount: UInt = 0) {
        self.init([TimeInterval](repeating: 0.1, count: count), loopCount: loopCount)
    }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        guard delays.indices.contains(index) else { return nil }
        return decodeLog.frame(index, PixelSize(8, 4), copyNumber: number, limit: maxSize)
    }

    func duration(at index: Int) -> TimeInterval { delays.indices.contains(index) ? delays[index] : 0 }

    func copy() -> TestFrames {
        TestFrames(delays, loopCount: loopCount, decodeLog: decodeLog, number: decodeLog.newCopy())
    }

    /// The number of the poster image that represents all frames.
    static let poster = 0xFFFF

    /// An image of these frames with a poster image of its own.
    var image: Image {
        let bitmap = Bitmap(width: 8, height: 4) { memory, _ in
            memory.bindMemory(to: UInt32.self).update(repeating: 0xFF00_0000 | UInt32(Self.poster))
        }
        let image = Image(cgImage: bitmap)
        image.updateMetadata { metadata in
            metadata.frameSource = self
            metadata.frameCount = self.frameCount
        }
        return image
    }
}

/// A queue that can be recognised.
enum FrameQueue {
    static let key = DispatchSpecificKey<Bool>()

    static func make() -> DispatchQueue {
        let queue = DispatchQueue(label: "test.animation")
        queue.setSpecific(key: key, value: true)
        return queue
    }
}

extension DispatchQueue {
    /// Waits until everything that has been put on the queue is done.
    func drain() { sync {} }
}

/// An animator, its source and its queue.
struct AnimatorRig {
    let source: TestFrames
    let queue = FrameQueue.make()
    let animator: FrameAnimator
    var decodeLog: DecodeLog { source.decodeLog }

    init(_ source: TestFrames, preload: Int = 10, repeatCount: AnimationRepeatCount = .infinite, prepared: Bool = true)
    {
        self.source = source
        animator = FrameAnimator(
            frameSource: source,
            contentMode: .scaleToFill,
            size: .zero,
            imageSize: CGSize(width: 8, height: 4),
            imageScale: 1,
            framePreloadCount: preload,
            repeatCount: repeatCount,
            preloadQueue: queue
        )
        guard prepared else { return }
        animator.prepareFramesAsynchronously()
        queue.drain()
    }

    /// The numbers of the frames that are in memory.
    var present: Set<Int> { Set((0..<source.frameCount).filter { animator.frame(at: $0) != nil }) }

    /// Ticks of a tenth of a second, each followed by the work it makes.
    @discardableResult
    func tick(_ count: Int = 1, by seconds: TimeInterval = 0.1) -> [AnimationStep] {
        (0..<count).map { _ in
            let step = animator.tick(seconds).step
            queue.drain()
            return step
        }
    }
}

extension Image {
    /// The number that a test's frame carries.
    var number: Int? {
        cgImage?.withUnsafeBytes { Int($0.loadUnaligned(as: UInt32.self) & 0xFFFF) }
    }
}

/// A player on a manual clock, and the calls of its delegate.
@MainActor
final class PlayerRig: AnimationPlayerDelegate {
    let link = ManualDisplayLink()
    let queue = FrameQueue.make()
    let player: AnimationPlayer
    /// The images that were shown; only the test's own frames.
    var shown: [Image] = []
    /// The calls of the delegate, with the index of the current frame.
    var delegateCalls: [String] = []
    var onDelegateCall: () -> Void = {}

    init() {
        player = AnimationPlayer(displayLink: link, preloadQueue: queue)
        player.onFrame = { [weak self] in self?.shown.append($0) }
        player.delegate = self
    }

    /// Attached, and showing an image whose first frames are decoded.
    convenience init(_ image: Image, repeatCount: AnimationRepeatCount = .infinite) {
        self.init()
        player.repeatCount = repeatCount
        player.attach()
        player.image = image
        queue.drain()
    }

    var index: Int? { player.animator?.currentFrameIndex }

    func animationPlayer(_ player: AnimationPlayer, didPlayAnimationLoops count: UInt) {
        delegateCalls.append("loops(\(count)) at \(player.animator?.currentFrameIndex ?? -1)")
        onDelegateCall()
    }

    func animationPlayerDidFinishAnimating(_ player: AnimationPlayer) {
        delegateCalls.append("finished at \(player.animator?.currentFrameIndex ?? -1)")
        onDelegateCall()
    }

    func tick(_ count: Int = 1, by seconds: TimeInterval = 0.1) {
        for _ in 0..<count {
            link.advance(by: seconds)
            queue.drain()
        }
    }
}

/// Waits until everything that has been put on the main queue is done.
func drainMainQueue() async {
    await withCheckedContinuation { continuation in
        DispatchQueue.main.async { continuation.resume() }
    }
}

/// The animation in a file that belongs to the imaging tests.
func animation(_ name: String, _ options: ImageCreatingOptions = ImageCreatingOptions()) throws -> Image {
    let data = try Data(contentsOf: Catalogue.url(name))
    return try #require(KingfisherWrapper<Image>.animatedImage(data: data, options: options))
}
