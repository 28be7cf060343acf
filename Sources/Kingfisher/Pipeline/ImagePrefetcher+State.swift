// The state of a prefetcher, as a value: which source is next, and what is to be reported. For ImagePrefetcher.

import KFSupport

extension ImagePrefetcher {
    enum Phase: Sendable {
        /// Not started.
        case waiting
        case running
        case finished
    }

    /// What the handlers are to be called with.
    enum Report: Sendable {
        /// One source more has ended.
        case progress(PrefetchEnd)
        /// All have; these have not been reported.
        case completion([PrefetchEnd])
    }

    struct State: Sendable {
        var phase = Phase.waiting
        var limit = 5
        /// The first entry that has not begun.
        var next = 0
        /// The tasks that load one entry after the other, by their numbers; nil for one that is about to be created.
        var workers: [Int: Task<Void, Never>?] = [:]
        var workerCount = 0
        /// The sources that have ended, in the order of their ends.
        var ended: [PrefetchEnd] = []
        /// Which sources have ended.
        var hasEnded: [Bool]
        /// How many of `ended` are to be reported one by one; those of a stop are not.
        var announced = 0
        /// How many of `ended` have been reported.
        var reported = 0
        /// Released with the completion.
        var handlers: PrefetchHandlers?
        var isCompletionReported = false
        /// Whether a thread calls the handlers.
        var isReporting = false

        var isRunning: Bool { phase == .running }
    }
}

extension ImagePrefetcher.State {
    /// The next entry, for a task that is about to be created; nil when there must be no further one.
    mutating func takeForNewWorker(of count: Int) -> (number: Int, entry: Int)? {
        guard isRunning, workers.count < limit, next < count else { return nil }
        defer { (workerCount, next) = (workerCount + 1, next + 1) }
        workers[workerCount] = .some(nil)
        return (workerCount, next)
    }

    /// The next entry for a task; nil when the task has to end.
    mutating func takeNext(of count: Int, by worker: Int) -> Int? {
        guard isRunning, workers.count <= limit, next < count else {
            workers[worker] = nil
            return nil
        }
        defer { next += 1 }
        return next
    }

    /// A source has ended.
    mutating func end(_ index: Int, _ outcome: PrefetchWork.Outcome) {
        hasEnded[index] = true
        ended.append(PrefetchEnd(index: index, outcome: outcome))
    }

    /// The next report; nil when there is none, and the next thread that has some makes them.
    mutating func takeReport() -> (ImagePrefetcher.Report, PrefetchHandlers?)? {
        if handlers?.progress != nil, reported < announced {
            defer { reported += 1 }
            return (.progress(ended[reported]), handlers)
        }
        guard case .finished = phase, !isCompletionReported else {
            isReporting = false
            return nil
        }
        defer { (isCompletionReported, handlers) = (true, nil) }
        return (.completion(Array(ended[reported...])), handlers)
    }
}
