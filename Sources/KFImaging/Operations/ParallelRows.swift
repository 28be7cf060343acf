// Rows split over the cores, for all operations on pixels.

import Dispatch
import KFSupport

/// Work on the rows of large images, shared by the threads for pixel work.
///
/// The calling thread takes part and never waits for a thread to become free: on a busy server, where other images
/// keep the other threads, it does all of the work itself.
enum ParallelRows {
    /// Smaller images are done before another thread has woken up.
    private static let smallest = 1 << 18

    /// Calls `body` with ranges that make up all rows, perhaps on several threads at once, and returns when it is done.
    ///
    /// - Parameters:
    ///   - size: The size of the image.
    ///   - body: May be called on other threads, several at a time.
    static func forEachBand(of size: PixelSize, _ body: (Range<Int>) -> Void) {
        guard size.pixelCount >= smallest, size.height > 1 else { return body(0..<size.height) }
        withoutActuallyEscaping(body) { body in
            let work = RowBandQueue(height: size.height, Unchecked(body: body))
            for _ in 1..<WorkExecutor.cpu.threadCount { Task(executorPreference: WorkExecutor.cpu) { work.takePart() } }
            work.takePart()
            work.close()
        }
    }
}

/// A closure that several threads may call.
// SAFETY: `ParallelRows.forEachBand` asks for closures that may be called by several threads at once, and returns only
// after the last call has ended.
private struct Unchecked: @unchecked Sendable {
    let body: (Range<Int>) -> Void
}

/// A queue of bands of rows, from which every thread that takes part removes the next one.
private final class RowBandQueue: Sendable {
    private struct State: Sendable {
        var next = 0
        /// How many threads are at work.
        var workers = 0
        var isClosed = false
        var work: Unchecked?

        mutating func enter() -> Unchecked? {
            if work != nil { workers += 1 }
            return work
        }

        mutating func take(_ rows: Int, of height: Int) -> Range<Int>? {
            guard next < height else { return nil }
            defer { next = min(next + rows, height) }
            return next..<min(next + rows, height)
        }

        /// Returns whether the last working thread has left a closed queue.
        mutating func leave() -> Bool {
            workers -= 1
            return isClosed && workers == 0
        }

        /// Returns whether some thread is still at work.
        mutating func close() -> Bool {
            isClosed = true
            work = nil
            return workers > 0
        }
    }

    private let height: Int
    private let rows: Int
    private let state: Locked<State>
    private let left = DispatchSemaphore(value: 0)

    init(height: Int, _ work: Unchecked) {
        self.height = height
        // Small enough that the wait for the last one is short, large enough to be worth taking.
        rows = max(1, height / 32)
        state = Locked(State(work: work))
    }

    /// Does bands until there are no more.
    func takePart() {
        guard doBands() else { return }
        if state.withLock({ $0.leave() }) { left.signal() }
    }

    /// Waits for the threads that are still at their last band; threads that come later find no work.
    func close() {
        if state.withLock({ $0.close() }) { left.wait() }
    }

    /// Returns whether there was something to do; when it returns, this thread has released the closure.
    private func doBands() -> Bool {
        guard let work = state.withLock({ $0.enter() }) else { return false }
        while let band = state.withLock({ $0.take(rows, of: height) }) { work.body(band) }
        return true
    }
}
