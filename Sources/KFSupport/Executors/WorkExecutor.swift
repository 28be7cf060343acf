// The threads on which blocking I/O and pixel work run.

import CKFLinux
import Dispatch
import Foundation

/// A bounded pool of threads of its own, for work that must not run on the cooperative pool or the caller's thread.
///
/// Work is taken by the priority of its task, and in the order it came within one priority. Threads start with the
/// first piece of work and end with the executor.
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

    /// Creates an executor with a fixed number of threads, at least one.
    package init(_ name: String, threads: Int) {
        self.name = name
        threadCount = max(1, threads)
    }

    deinit { jobs.close(threads: threadCount) }

    package func enqueue(_ job: consuming ExecutorJob) { enqueue(job, on: asUnownedTaskExecutor()) }

    /// Runs `work` on this executor and returns to where the caller was.
    ///
    /// Work that waits moves up when its task is escalated. Work of a caller that is on this executor already begins at
    /// once.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @concurrent @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        // A task without a preference of its own, begun on a thread of this executor, would go on elsewhere.
        let isHere = jobs.isOnThread && withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
        if isHere { return try await work() }
        let callerExecutor = CallerExecutor(on: self)
        return try await withTaskPriorityEscalationHandler { () async throws(Failure) -> Value in
            try await withTaskExecutorPreference(callerExecutor, operation: work)
        } onPriorityEscalated: { [jobs] _, priority in
            jobs.raise(callerExecutor.asUnownedTaskExecutor(), to: priority)
        }
    }

    fileprivate func enqueue(_ job: consuming ExecutorJob, on executor: UnownedTaskExecutor) {
        let priority = job.priority.rawValue
        if jobs.push(JobQueue.Job(job: UnownedJob(job), executor: executor), priority: priority) { startThreads() }
    }

    private func startThreads() {
        for index in 0..<threadCount {
            let thread = Thread { [jobs, name] in
                kf_name_thread("\(name).\(index)")  // Foundation's `name` is lost on Linux
                jobs.work()
            }
            // libjpeg, libavif and lcms2 keep large buffers on the stack of the calling thread.
            thread.stackSize = 2 << 20
            thread.start()
        }
    }
}

/// The executor of one caller's jobs, by which those that wait are found.
private final class CallerExecutor: TaskExecutor {
    private let executor: WorkExecutor

    init(on executor: WorkExecutor) { self.executor = executor }

    func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(job, on: asUnownedTaskExecutor()) }
}

/// The threads of one executor wait here.
private final class JobQueue: Sendable {
    struct Job: Sendable {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
    }

    private struct State: Sendable {
        var waiting = WorkQueue<Job>()
        var isStarted = false
        var isClosed = false
    }

    private let state = Locked(State())
    private let available = DispatchSemaphore(value: 0)

    /// Whether the caller is on a thread of this queue.
    var isOnThread: Bool { kf_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Adds a job; true for the first one ever, for which threads have to be started.
    func push(_ job: Job, priority: UInt8) -> Bool {
        let isFirst = state.withLock { state in
            state.waiting.push(job, level: priority)
            defer { state.isStarted = true }
            return !state.isStarted
        }
        available.signal()
        return isFirst
    }

    /// Lets the waiting jobs of an executor move up.
    ///
    /// A job whose task is escalated in the instant between its enqueueing and its arrival here keeps its position.
    func raise(_ executor: UnownedTaskExecutor, to priority: TaskPriority) {
        state.withLock { $0.waiting.raise(to: priority.rawValue) { $0.executor == executor } }
    }

    /// Lets the threads end once the queue is empty.
    func close(threads: Int) {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { available.signal() }
    }

    /// The life of one thread.
    func work() {
        kf_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
        while true {
            available.wait()
            let (job, isClosed) = state.withLock { ($0.waiting.pop(), $0.isClosed) }
            if let job {
                job.job.runSynchronously(on: job.executor)
            } else if isClosed {
                return
            }
        }
    }
}
