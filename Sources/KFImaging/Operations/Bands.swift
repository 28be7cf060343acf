// Rows split over the cores. Knows neither pixels nor what is done to them.

import Dispatch
import KFSupport

/// Work on the rows of large pictures, shared by the threads for pixel work.
///
/// The calling thread takes part and never waits for a thread to become free: on a busy server, where other pictures keep
/// the other threads, it does all of the work itself.
enum Bands {
    /// Smaller pictures are done before another thread has woken up.
    private static let smallest = 1 << 18

    /// Calls `body` with ranges that make up all rows, perhaps on several threads at once, and returns when it is done.
    ///
    /// - Parameters:
    ///   - size: The size of the picture.
    ///   - body: Must not mind being called on other threads, several at a time.
    static func forEach(of size: PixelSize, _ body: (Range<Int>) -> Void) {
        guard size.pixelCount >= smallest, size.height > 1 else { return body(0..<size.height) }
        withoutActuallyEscaping(body) { body in
            let work = SharedBands(height: size.height, Unchecked(body: body))
            for _ in 1..<WorkExecutor.cpu.threadCount { Task(executorPreference: WorkExecutor.cpu) { work.takePart() } }
            work.takePart()
            work.close()
        }
    }
}

/// A closure that several threads may call.
// SAFETY: `Bands.forEach` asks for closures that may be called by several threads at once, and returns only after the last
// call has ended.
private struct Unchecked: @unchecked Sendable {
    let body: (Range<Int>) -> Void
}

/// Bands that are taken by whoever comes.
private final class SharedBands: Sendable {
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

        /// Answers whether the last one has left after the end.
        mutating func leave() -> Bool {
            workers -= 1
            return isClosed && workers == 0
        }

        /// Answers whether somebody is still at work.
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
        // Small enough that nobody waits long for the last one, large enough to be worth taking.
        rows = max(1, height / 32)
        state = Locked(State(work: work))
    }

    /// Does bands until there are no more.
    func takePart() {
        guard doBands() else { return }
        if state.withLock({ $0.leave() }) { left.signal() }
    }

    /// Waits for those who are still at their last band; whoever comes later finds nothing.
    func close() {
        if state.withLock({ $0.close() }) { left.wait() }
    }

    /// Answers whether there was something to do; nobody holds the closure any more when this has returned.
    private func doBands() -> Bool {
        guard let work = state.withLock({ $0.enter() }) else { return false }
        while let band = state.withLock({ $0.take(rows, of: height) }) { work.body(band) }
        return true
    }
}
