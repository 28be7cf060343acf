// Which callers wait for which work, as a value: no locks, no tasks, no time.

/// The rules of coalescing.
///
/// Every mutation returns what its caller must do next, so the rules can be tested without a network or a thread.
package struct SharedWork<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// One waiter's membership in one round of work.
    package struct Ticket: Hashable, Sendable {
        package let key: Key
        package let round: Int
        package let waiterID: Int

        @inlinable
        init(key: Key, round: Int, waiterID: Int) {
            self.key = key
            self.round = round
            self.waiterID = waiterID
        }
    }

    /// What became of the work when a waiter left it.
    package enum Departure: Sendable {
        /// It was the last one: the work has to be stopped.
        case stop(Waiter)
        /// Others still wait: the work goes on.
        case others(Waiter)
        /// The round was over already, or the waiter had left before.
        case tooLate
    }

    /// The waiters of a round in the order of joining.
    ///
    /// Two arrays, so that all waiters can be returned as they are: that happens for every piece of data, leaving
    /// hardly ever.
    @usableFromInline
    struct Round: Sendable {
        @usableFromInline let id: Int
        @usableFromInline var waiterIDs: [Int]
        @usableFromInline var waiters: [Waiter]

        @inlinable
        init(id: Int, waiterID: Int, _ waiter: Waiter) {
            self.id = id
            waiterIDs = [waiterID]
            waiters = [waiter]
        }
    }

    // Inlinable, as all that follows: unspecialised, hashing the key alone takes longer than the rest of a join.
    @usableFromInline var rounds: [Key: Round] = [:]
    @usableFromInline var counter = 0

    @inlinable
    package init() {}

    /// How many rounds of work are under way.
    package var count: Int { rounds.count }

    /// Adds a waiter.
    ///
    /// With `isFirst` the caller has to start the work.
    @inlinable
    package mutating func join(_ key: Key, _ waiter: Waiter) -> (ticket: Ticket, isFirst: Bool) {
        counter += 1
        guard let index = rounds.index(forKey: key) else {
            rounds[key] = Round(id: counter, waiterID: counter, waiter)
            return (Ticket(key: key, round: counter, waiterID: counter), true)
        }
        rounds.values[index].waiterIDs.append(counter)
        rounds.values[index].waiters.append(waiter)
        return (Ticket(key: key, round: rounds.values[index].id, waiterID: counter), false)
    }

    /// Removes one waiter; the last to leave stops the work.
    @inlinable
    package mutating func leave(_ ticket: Ticket) -> Departure {
        guard var round = rounds.removeValue(forKey: ticket.key) else { return .tooLate }
        defer { if !round.waiterIDs.isEmpty { rounds[ticket.key] = round } }
        guard round.id == ticket.round, let index = round.waiterIDs.firstIndex(of: ticket.waiterID) else {
            return .tooLate
        }
        round.waiterIDs.remove(at: index)
        let waiter = round.waiters.remove(at: index)
        return round.waiterIDs.isEmpty ? .stop(waiter) : .others(waiter)
    }

    /// All waiters of a round, in the order of joining.
    @inlinable
    package func waiters(_ key: Key, round id: Int) -> [Waiter] {
        guard let round = rounds[key], round.id == id else { return [] }
        return round.waiters
    }

    /// Ends a round.
    ///
    /// Returns no waiter if all had left and a new round began.
    @inlinable
    package mutating func finish(_ key: Key, round id: Int) -> [Waiter] {
        guard let index = rounds.index(forKey: key), rounds.values[index].id == id else { return [] }
        return rounds.remove(at: index).value.waiters
    }
}
