// Runs one task for all callers that want the same result. Knows nothing of what the result is.

/// Coalesces asynchronous work: one task for each key, its result for all callers that joined before it ended.
///
/// Each waiter can leave on its own; when the last one leaves, the task is cancelled. A waiter that leaves returns at
/// once and does not wait for the task to notice. All callers in a round share one `Context`, through which the work
/// can report to its waiters while it goes on.
package final class SharedTasks<Key: Hashable & Sendable, Context: Sendable, Value: Sendable, Failure: Error>: Sendable
{
    package typealias Outcome = Result<Value, Failure>
    private typealias Waiter = Promise<Outcome>
    private typealias Work = SharedWork<Key, Waiter>

    private struct State: Sendable {
        var work = Work()
        var rounds: [Int: Round] = [:]
    }

    private struct Round: Sendable {
        let context: Context
        /// The highest of all callers that have joined.
        var priority: TaskPriority
        /// `nil` until the work has begun.
        var task: Task<Void, Never>?
    }

    private let state = Locked(State())
    private let makeContext: @Sendable () -> Context

    /// Creates an empty set of tasks.
    /// - Parameter makeContext: Makes what the waiters of one round share. Called with a lock held.
    package init(context makeContext: @escaping @Sendable () -> Context) { self.makeContext = makeContext }

    /// How many rounds of work are under way.
    package var count: Int { state.withLock { $0.work.count } }

    /// Joins the work on `key`, starting it if no other caller has, and waits for its result.
    ///
    /// Joining happens before the first suspension, so the work is under way when a task started on this thread
    /// suspends for the first time.
    /// - Parameters:
    ///   - key: What is wanted.
    ///   - priority: How urgent it is; the caller's priority by default. The work has the highest priority of all
    ///     callers that have joined, also where it waits for a thread, and is escalated with the task of each of them.
    ///   - joined: Called once, before waiting, with what the waiters of this round share.
    ///   - cancelled: The failure for a waiter whose task is cancelled; called at that moment, on any thread.
    ///   - operation: The work, run in a task of its own that inherits nothing else.
    /// - Returns: The result of the work.
    /// - Throws: The work's failure, or the one that `cancelled` returns.
    package func value(
        for key: Key,
        priority: TaskPriority? = nil,
        joined: (Context) -> Void = { _ in },
        cancelled: @escaping @Sendable (Context) -> Failure,
        operation: @escaping @Sendable (Context) async -> Outcome
    ) async throws(Failure) -> Value {
        let waiter = Waiter()
        let priority = priority ?? Task.currentPriority
        let (ticket, context, isFirst) = join(key, waiter, priority)
        joined(context)
        // Not before: what the work reports at once would reach no caller.
        if isFirst { begin(ticket, context, operation) } else { raise(ticket, to: priority) }
        let outcome = await withTaskCancellationHandler {
            await withTaskPriorityEscalationHandler {
                await waiter.value
            } onPriorityEscalated: { _, priority in
                raise(ticket, to: priority)
            }
        } onCancel: {
            leave(ticket) { cancelled(context) }
        }
        return try outcome.get()
    }

    private func join(
        _ key: Key,
        _ waiter: Waiter,
        _ priority: TaskPriority
    ) -> (ticket: Work.Ticket, context: Context, isFirst: Bool) {
        state.withLock { state in
            let (ticket, _) = state.work.join(key, waiter)
            if let round = state.rounds[ticket.round] { return (ticket, round.context, false) }
            let round = Round(context: makeContext(), priority: priority)
            state.rounds[ticket.round] = round
            return (ticket, round.context, true)
        }
    }

    /// Starts the work; called by its first waiter, which cannot have left yet.
    private func begin(
        _ ticket: Work.Ticket,
        _ context: Context,
        _ operation: @escaping @Sendable (Context) async -> Outcome
    ) {
        state.withLock { state in
            let priority = state.rounds[ticket.round]?.priority
            state.rounds[ticket.round]?.task = Task(priority: priority) { @concurrent in
                let outcome = await operation(context)
                self.finish(ticket, outcome)
            }
        }
    }

    /// Escalates the work of a round that is less urgent; before it has begun, it will begin as urgent.
    private func raise(_ ticket: Work.Ticket, to priority: TaskPriority) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard let round = state.rounds[ticket.round], round.priority < priority else { return nil }
            state.rounds[ticket.round]?.priority = priority
            return round.task
        }
        task?.escalatePriority(to: priority)
    }

    private func finish(_ ticket: Work.Ticket, _ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.rounds[ticket.round] = nil
            return state.work.finish(ticket.key, round: ticket.round)
        }
        for waiter in waiters { waiter.fulfil(outcome) }
    }

    private func leave(_ ticket: Work.Ticket, _ cancelled: () -> Failure) {
        let (departure, task) = state.withLock { state -> (Work.Departure, Task<Void, Never>?) in
            let departure = state.work.leave(ticket)
            guard case .stop = departure else { return (departure, nil) }
            return (departure, state.rounds.removeValue(forKey: ticket.round)?.task)
        }
        switch departure {
        case .stop(let waiter), .others(let waiter): waiter.fulfil(.failure(cancelled()))
        case .tooLate: break
        }
        task?.cancel()
    }
}
