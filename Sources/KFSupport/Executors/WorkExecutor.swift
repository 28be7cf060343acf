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
    /// As many threads as processors, unless the program says otherwise.
    package static let cpu = WorkExecutor("kf.cpu", threads: UsableProcessors.count)

    /// For work that waits in system calls: reading and writing files.
    package static let io = WorkExecutor("kf.io", threads: 4)

    private let jobs: JobQueue
    private let name: String

    /// How many threads there are at most, at least one.
    ///
    /// With a higher number, threads start with the next piece of work; with a lower one, those that are too many end
    /// when they have done theirs.
    package var threadCount: Int {
        get { jobs.threadLimit }
        set { jobs.threadLimit = max(1, newValue) }
    }

    /// Creates an executor with a number of threads, at least one.
    package init(_ name: String, threads: Int) {
        self.name = name
        jobs = JobQueue(threadLimit: max(1, threads))
    }

    deinit { jobs.close() }

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
        let missing = jobs.push(JobQueue.Job(job: UnownedJob(job), executor: executor), priority: priority)
        if !missing.isEmpty { startThreads(missing) }
    }

    private func startThreads(_ numbers: Range<Int>) {
        for index in numbers {
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
        var threads = 0
        var threadLimit: Int
        var isClosed = false

        /// What a thread does next: a job, or it ends, or waits for more.
        mutating func turn() -> (job: Job?, ends: Bool) {
            let isTooMany = threads > threadLimit
            let job = isTooMany ? nil : waiting.pop()
            let ends = isTooMany || (job == nil && isClosed)
            if ends { threads -= 1 }
            return (job, ends)
        }
    }

    private let state: Locked<State>
    private let available = DispatchSemaphore(value: 0)

    init(threadLimit: Int) { state = Locked(State(threadLimit: threadLimit)) }

    var threadLimit: Int {
        get { state.withLock { $0.threadLimit } }
        set { state.withLock { $0.threadLimit = newValue } }
    }

    /// Whether the caller is on a thread of this queue.
    var isOnThread: Bool { kf_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// Adds a job; returns the numbers of the threads that have to be started.
    func push(_ job: Job, priority: UInt8) -> Range<Int> {
        let missing = state.withLock { state in
            state.waiting.push(job, level: priority)
            let missing = state.threads..<max(state.threads, state.threadLimit)
            state.threads = missing.upperBound
            return missing
        }
        available.signal()
        return missing
    }

    /// Lets the waiting jobs of an executor move up.
    ///
    /// A job whose task is escalated in the instant between its enqueueing and its arrival here keeps its position.
    func raise(_ executor: UnownedTaskExecutor, to priority: TaskPriority) {
        state.withLock { $0.waiting.raise(to: priority.rawValue) { $0.executor == executor } }
    }

    /// Lets the threads end once the queue is empty.
    func close() {
        state.withLock { $0.isClosed = true }
        available.signal()
    }

    /// The life of one thread.
    func work() {
        kf_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
        while true {
            available.wait()
            let (job, ends) = state.withLock { $0.turn() }
            if let job { job.job.runSynchronously(on: job.executor) }
            guard !ends else {
                // What woke this thread is for another one.
                available.signal()
                return
            }
        }
    }
}
