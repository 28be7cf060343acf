// Where blocking I/O and pixel work run. Knows nothing of files or pixels.

import CKFLinux
import Dispatch
import Foundation

/// A bounded pool of threads of its own, for work that must not run on the cooperative pool or the caller's thread.
///
/// Work is taken in the order it came. Threads start with the first piece of work and end with the executor.
package final class WorkExecutor: TaskExecutor {
    /// For work that keeps a core busy: decoding, processing and encoding pixels.
    ///
    /// As many threads as cores.
    package static let cpu = WorkExecutor("kf.cpu", threads: ProcessInfo.processInfo.activeProcessorCount)

    /// For work that waits in system calls: reading and writing files.
    package static let io = WorkExecutor("kf.io", threads: 4)

    private let jobs = JobQueue()
    private let name: String
    /// How many threads there are at most.
    package let threadCount: Int
    private let isStarted = Locked(false)

    /// Creates an executor with a fixed number of threads, at least one.
    package init(_ name: String, threads: Int) {
        self.name = name
        threadCount = max(1, threads)
    }

    deinit { jobs.close(threads: threadCount) }

    package func enqueue(_ job: consuming ExecutorJob) {
        startIfNeeded()
        jobs.push(UnownedJob(job), on: asUnownedTaskExecutor())
    }

    /// Runs `work` on this executor and returns to where the caller was.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withTaskExecutorPreference(self, operation: work)
    }

    private func startIfNeeded() {
        let mustStart = isStarted.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard mustStart else { return }
        for index in 0..<threadCount {
            let thread = Thread { [jobs, name] in
                kf_name_thread("\(name).\(index)")  // Foundation's `name` is lost on Linux
                jobs.work()
            }
            // libjpeg, libavif and lcms2 keep large buffers on the stack of whoever calls them.
            thread.stackSize = 2 << 20
            thread.start()
        }
    }
}

/// First in, first out; the threads of one executor wait here.
private final class JobQueue: Sendable {
    private struct Job: Sendable {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
    }

    private struct State: Sendable {
        var waiting: [Job] = []
        var next = 0
        var isClosed = false

        mutating func pop() -> Job? {
            guard next < waiting.count else { return nil }
            defer {
                next += 1
                // Amortised O(1): what was taken is dropped once it is the larger half.
                if next * 2 > waiting.count, next >= 64 || next == waiting.count {
                    waiting.removeFirst(next)
                    next = 0
                }
            }
            return waiting[next]
        }
    }

    private let state = Locked(State())
    private let available = DispatchSemaphore(value: 0)

    func push(_ job: UnownedJob, on executor: UnownedTaskExecutor) {
        state.withLock { $0.waiting.append(Job(job: job, executor: executor)) }
        available.signal()
    }

    /// Lets the threads end once the queue is empty.
    func close(threads: Int) {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { available.signal() }
    }

    /// The life of one thread.
    func work() {
        while true {
            available.wait()
            let (job, isClosed) = state.withLock { ($0.pop(), $0.isClosed) }
            if let job {
                job.job.runSynchronously(on: job.executor)
            } else if isClosed {
                return
            }
        }
    }
}
