// The threads on which blocking I/O and pixel work run.

import CKFLinux
package import Dispatch
import Foundation
import Synchronization

/// A bounded pool of threads of its own, for work that must not run on the cooperative pool or the caller's thread.
///
/// Work is taken by the priority of its task, and in the order it came within one priority. Large work
/// (``Lane/makeWay()``) comes after other work of its priority. While large work runs there is one thread more, which
/// takes small work only. A thread starts when there is more work than threads; it ends with the executor, or when
/// there has been no work for the executor's idle time.
package final class WorkExecutor: TaskExecutor {
    /// For work that keeps a core busy: decoding, processing and encoding pixels; and for what is done to the file of
    /// such an image and takes less time than another thread needs to wake.
    ///
    /// As many threads as processors, unless the program says otherwise.
    package static let cpu = WorkExecutor("kf.cpu", threads: UsableProcessors.count)

    /// For work that waits in system calls: writing files, listing folders, and reading what is not decoded at once.
    package static let io = WorkExecutor("kf.io", threads: 4)

    /// For code of users and for files of theirs, which may block as long as they like, even until another load has
    /// ended.
    ///
    /// While all threads are blocked, more work starts more threads, up to 512.
    package static let userCode = WorkExecutor("kf.user", threads: 512, idleTime: .seconds(10))

    private let jobs: JobQueue

    /// How many threads there are at most, at least one.
    ///
    /// With a higher number, threads start with the next piece of work; with a lower one, those that are too many end
    /// when they have done theirs.
    package var threadCount: Int {
        get { jobs.threadLimit }
        set { jobs.threadLimit = max(1, newValue) }
    }

    /// How many threads there are now.
    package var currentThreadCount: Int { jobs.threadCount }

    /// How many pieces of work wait for a thread.
    package var waitingCount: Int { jobs.waitingCount }

    /// Creates an executor with at most a number of threads, at least one.
    /// - Parameters:
    ///   - name: The beginning of its threads' names.
    ///   - threads: How many threads there are at most.
    ///   - idleTime: How long a thread waits for work before it ends; nil means as long as the executor lives.
    package init(_ name: String, threads: Int, idleTime: DispatchTimeInterval? = nil) {
        jobs = JobQueue(name, threadLimit: max(1, threads), idleTime: idleTime)
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
        let lane = lane()
        return try await withTaskPriorityEscalationHandler { () async throws(Failure) -> Value in
            try await withTaskExecutorPreference(lane, operation: work)
        } onPriorityEscalated: { _, priority in
            lane.raise(to: priority)
        }
    }

    /// An executor for one task, whose jobs run here and can be moved up.
    package func lane() -> Lane { Lane(on: self) }

    /// Goes on on a thread of this executor, if the task prefers a lane of it and was begun elsewhere.
    ///
    /// For speed alone: such a task need not come back from ``run(_:)``, which works wherever this leads.
    package func switchToThread() async {
        guard !jobs.isOnThread, withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor != nil }) else { return }
        await Task.yield()
    }

    fileprivate func enqueue(
        _ job: consuming ExecutorJob,
        on executor: UnownedTaskExecutor,
        isLarge: Bool = false
    ) {
        let priority = job.priority.rawValue
        jobs.push(JobQueue.Job(job: UnownedJob(job), executor: executor, isLarge: isLarge), priority: priority)
    }
}

extension WorkExecutor {
    /// The executor of one task's jobs, by which those that wait are found.
    package final class Lane: TaskExecutor {
        private let executor: WorkExecutor
        private let isLarge = Atomic(false)

        fileprivate init(on executor: WorkExecutor) { self.executor = executor }

        package func enqueue(_ job: consuming ExecutorJob) {
            executor.enqueue(job, on: asUnownedTaskExecutor(), isLarge: isLarge.load(ordering: .relaxed))
        }

        /// Lets smaller work of the same priority go first: what the lane's task does next, until it waits again, is
        /// large.
        package func makeWay() async {
            isLarge.store(true, ordering: .relaxed)
            // A task that is resumed before it has suspended goes on in the same job, which is small; that is rare.
            for _ in 0..<8 {
                await Task.yield()
                if kf_has_large_work() { break }
            }
            isLarge.store(false, ordering: .relaxed)
        }

        /// Lets the jobs that wait move up.
        package func raise(to priority: TaskPriority) { executor.jobs.raise(asUnownedTaskExecutor(), to: priority) }
    }
}

/// The jobs of one executor, and the threads that wait for them.
private final class JobQueue: Sendable {
    struct Job: Sendable {
        let job: UnownedJob
        let executor: UnownedTaskExecutor
        let isLarge: Bool
    }

    private struct State: Sendable {
        var waiting = WorkQueue<Job>()
        var waitingLarge = WorkQueue<Job>()
        /// The jobs that wait or run.
        var jobs = 0
        var runningLarge = 0
        var threads = 0
        var threadLimit: Int
        /// The threads that have nothing to do.
        ///
        /// The last to fall asleep is woken first: its processor has the decoders' tables and memory at hand.
        var sleeping: [Worker] = []
        /// Whether a thread has been started that does not look for jobs yet.
        var isStarting = false
        var isClosed = false

        /// Counts the thread that has to be started, if one has to: for jobs that no thread can take.
        ///
        /// They start one after the other: of many jobs that are done soon, most are done before the next thread
        /// starts.
        mutating func startsThread() -> Bool {
            guard jobs > threads, threads < mostThreads, !isStarting else { return false }
            threads += 1
            isStarting = true
            return true
        }

        private var mostThreads: Int { threadLimit + (runningLarge > 0 ? 1 : 0) }

        mutating func push(_ job: Job, level: UInt8) {
            jobs += 1
            if job.isLarge { waitingLarge.push(job, level: level) } else { waiting.push(job, level: level) }
        }

        private mutating func pop() -> Job? {
            let large = runningLarge < threadLimit ? waitingLarge.highestLevel : nil
            guard let large, waiting.highestLevel.map({ large > $0 }) ?? true else { return waiting.pop() }
            runningLarge += 1
            return waitingLarge.pop()
        }

        /// Counts a job that has run, and returns the thread that has to be woken, if another large one may run now.
        mutating func finish(_ job: Job) -> Worker? {
            jobs -= 1
            guard job.isLarge else { return nil }
            runningLarge -= 1
            return waitingLarge.count > 0 ? sleeping.popLast() : nil
        }

        /// What a thread does next; a thread that has slept too long ends when there is nothing to do.
        mutating func nextStep(of worker: Worker, isIdle: Bool) -> NextStep {
            let isTooMany = threads > mostThreads
            if !isTooMany, let job = pop() { return .work(job) }
            guard isTooMany || isClosed || isIdle else {
                sleeping.append(worker)
                return .sleep
            }
            threads -= 1
            // What woke this thread is for another one.
            return .end(waking: isIdle ? nil : sleeping.popLast())
        }
    }

    private enum NextStep: Sendable {
        case work(Job)
        case sleep
        case end(waking: Worker?)
    }

    /// A thread that can sleep.
    private final class Worker: Sendable {
        let signal = DispatchSemaphore(value: 0)
    }

    private let name: String
    private let idleTime: DispatchTimeInterval?
    private let state: Locked<State>

    init(_ name: String, threadLimit: Int, idleTime: DispatchTimeInterval?) {
        self.name = name
        self.idleTime = idleTime
        state = Locked(State(threadLimit: threadLimit))
    }

    var threadCount: Int { state.withLock { $0.threads } }

    var waitingCount: Int { state.withLock { $0.waiting.count + $0.waitingLarge.count } }

    var threadLimit: Int {
        get { state.withLock { $0.threadLimit } }
        set { state.withLock { $0.threadLimit = newValue } }
    }

    /// Whether the caller is on a thread of this queue.
    var isOnThread: Bool { kf_thread_owner() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

    func push(_ job: Job, priority: UInt8) {
        let (worker, startsThread) = state.withLock { state in
            state.push(job, level: priority)
            return (state.sleeping.popLast(), state.startsThread())
        }
        worker?.signal.signal()
        if startsThread { startThread() }
    }

    /// Lets the waiting jobs of an executor move up.
    ///
    /// A job whose task is escalated in the instant between its enqueueing and its arrival here keeps its position.
    func raise(_ executor: UnownedTaskExecutor, to priority: TaskPriority) {
        state.withLock { state in
            state.waiting.raise(to: priority.rawValue) { $0.executor == executor }
            state.waitingLarge.raise(to: priority.rawValue) { $0.executor == executor }
        }
    }

    /// Lets the threads end once the queue is empty.
    func close() {
        let sleeping = state.withLock { state in
            defer { (state.isClosed, state.sleeping) = (true, []) }
            return state.sleeping
        }
        for worker in sleeping { worker.signal.signal() }
    }

    private func startThread() {
        let thread = Thread { [self] in
            kf_name_thread(name)  // Foundation's `name` is lost on Linux
            kf_set_thread_owner(Unmanaged.passUnretained(self).toOpaque())
            work()
        }
        // libjpeg, libavif and lcms2 keep large buffers on the stack of the calling thread.
        thread.stackSize = 2 << 20
        thread.start()
    }

    /// The life of one thread.
    private func work() {
        let startsThread = state.withLock { state in
            state.isStarting = false
            return state.startsThread()
        }
        if startsThread { startThread() }
        let worker = Worker()
        var isIdle = false
        while true {
            switch state.withLock({ $0.nextStep(of: worker, isIdle: isIdle) }) {
            case .work(let job):
                isIdle = false
                kf_set_large_work(job.isLarge)
                job.job.runSynchronously(on: job.executor)
                state.withLock { $0.finish(job) }?.signal.signal()
            case .sleep: isIdle = sleep(worker)
            case .end(let next):
                next?.signal.signal()
                return
            }
        }
    }

    /// Waits until the thread is woken; true when it has slept for the idle time instead.
    private func sleep(_ worker: Worker) -> Bool {
        guard worker.signal.wait(timeout: idleTime.map { .now() + $0 } ?? .distantFuture) == .timedOut else {
            return false
        }
        let isIdle = state.withLock { state in
            guard let index = state.sleeping.firstIndex(where: { $0 === worker }) else { return false }
            state.sleeping.remove(at: index)
            return true
        }
        if !isIdle { worker.signal.wait() }  // it is being woken
        return isIdle
    }
}
