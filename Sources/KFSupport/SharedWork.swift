// Who is waiting for what, as a value: no locks, no tasks, no time.

/// The rules of coalescing.
///
/// Every mutation returns what its caller must do next, so the rules can be tested without a network or a thread.
package struct SharedWork<Key: Hashable & Sendable, Waiter: Sendable>: Sendable {
    /// One waiter's place in one round of work.
    package struct Ticket: Hashable, Sendable {
        package let key: Key
        package let round: Int
        package let seat: Int

        @inlinable
        init(key: Key, round: Int, seat: Int) {
            self.key = key
            self.round = round
            self.seat = seat
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

    /// In the order of joining.
    ///
    /// Two arrays, so that all waiters can be handed out as they are: that happens for every piece of data, leaving
    /// hardly ever.
    @usableFromInline
    struct Round: Sendable {
        @usableFromInline let id: Int
        @usableFromInline var seats: [Int]
        @usableFromInline var waiters: [Waiter]

        @inlinable
        init(id: Int, seat: Int, _ waiter: Waiter) {
            self.id = id
            seats = [seat]
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
    /// `isFirst` means the work has to be started.
    @inlinable
    package mutating func join(_ key: Key, _ waiter: Waiter) -> (ticket: Ticket, isFirst: Bool) {
        counter += 1
        guard let index = rounds.index(forKey: key) else {
            rounds[key] = Round(id: counter, seat: counter, waiter)
            return (Ticket(key: key, round: counter, seat: counter), true)
        }
        rounds.values[index].seats.append(counter)
        rounds.values[index].waiters.append(waiter)
        return (Ticket(key: key, round: rounds.values[index].id, seat: counter), false)
    }

    /// Removes one waiter; the last to leave stops the work.
    @inlinable
    package mutating func leave(_ ticket: Ticket) -> Departure {
        guard var round = rounds.removeValue(forKey: ticket.key) else { return .tooLate }
        defer { if !round.seats.isEmpty { rounds[ticket.key] = round } }
        guard round.id == ticket.round, let index = round.seats.firstIndex(of: ticket.seat) else { return .tooLate }
        round.seats.remove(at: index)
        let waiter = round.waiters.remove(at: index)
        return round.seats.isEmpty ? .stop(waiter) : .others(waiter)
    }

    /// Everyone waiting in a round, in the order of joining.
    @inlinable
    package func waiters(_ key: Key, round id: Int) -> [Waiter] {
        guard let round = rounds[key], round.id == id else { return [] }
        return round.waiters
    }

    /// Ends a round.
    ///
    /// Returns nobody if everyone had left and a new round began.
    @inlinable
    package mutating func finish(_ key: Key, round id: Int) -> [Waiter] {
        guard let index = rounds.index(forKey: key), rounds.values[index].id == id else { return [] }
        return rounds.remove(at: index).value.waiters
    }
}
