// The queue of waiting transfers, by host, and the slots that are taken. For CurlEngine.

/// Where a transfer stands among waiting ones of the same priority.
public enum TransferOrder: Hashable, Sendable {
    /// Those that came first go first.
    case oldestFirst
    /// Those that came last go first, and before all that are ``oldestFirst``: for images that are on the screen.
    case newestFirst
}

/// Transfers that wait for a slot, and how many run.
///
/// A value without clocks or connections: a transfer waits, is taken by ``next()``, and gives its slot back. It never
/// takes the last slot for a host that has all others while another host waits.
///
/// It stands before libcurl because what libcurl has accepted can neither be ordered nor left out of the time limits.
struct TransferQueue {
    /// Which goes first: the greater.
    private struct Position: Comparable {
        var priority: Float
        let rank: Int
        /// Whether it is the next hop of a transfer that has begun.
        var isContinued: Bool { rank > Int.max / 2 }
        static func < (a: Self, b: Self) -> Bool { (a.priority, a.rank) < (b.priority, b.rank) }
    }

    private struct Host {
        /// In ascending order: the last one goes first.
        var waiting: [(position: Position, id: Int)] = []
        var running = 0

        /// The first index whose position is not before `position`.
        func insertionIndex(of position: Position) -> Int {
            var (low, high) = (0, waiting.count)
            while low < high {
                let middle = (low + high) / 2
                if waiting[middle].position < position { low = middle + 1 } else { high = middle }
            }
            return low
        }

        func index(of position: Position) -> Int? {
            let index = insertionIndex(of: position)
            return index < waiting.count && waiting[index].position == position ? index : nil
        }
    }

    /// How many transfers to one host may run over HTTP/2, where a connection takes many.
    private static let perMultiplexedHost = 100

    /// How many transfers may run.
    var total = 1
    /// How many transfers to one host may run over HTTP/1.1: one a connection.
    var perHost = 1
    /// Whether only transfers that have begun go on.
    var isSuspended = false
    /// How many have a slot.
    private(set) var runningCount = 0
    private var hosts: [String: Host] = [:]
    private var waiting: [Int: (host: String, position: Position)] = [:]
    private var multiplexedHosts: Set<String> = []
    private var lastRank = 0

    /// How many wait for a slot.
    var waitingCount: Int { waiting.count }

    /// Adds a transfer to a host, whose name is written alike for all of them.
    ///
    /// The next hop of a transfer that has begun (`isContinued`) goes before all transfers of its priority.
    mutating func add(_ id: Int, to host: String, priority: Float, order: TransferOrder, isContinued: Bool = false) {
        lastRank += 1
        let rank = order == .newestFirst ? lastRank : -lastRank
        insert(id, host, Position(priority: priority, rank: isContinued ? Int.max - lastRank : rank))
    }

    /// Removes a transfer that waits.
    mutating func remove(_ id: Int) {
        guard let (host, position) = waiting.removeValue(forKey: id), let index = hosts[host]?.index(of: position)
        else { return }
        hosts[host]?.waiting.remove(at: index)
        forgetIfUnused(host)
    }

    /// Moves a transfer that waits; does nothing to one that runs.
    mutating func setPriority(_ priority: Float, of id: Int) {
        guard let (host, position) = waiting[id], position.priority != priority else { return }
        remove(id)
        insert(id, host, Position(priority: priority, rank: position.rank))
    }

    /// Takes a slot for the transfer that goes next; nil when none may go.
    mutating func next() -> Int? {
        guard !isSuspended else { return nextContinued() }
        guard runningCount < total, var host = bestHost() else { return nil }
        if runningCount > 0, runningCount == total - 1, hosts[host]?.running == runningCount {
            host = bestHost(except: host) ?? host
        }
        guard let id = hosts[host]?.waiting.popLast()?.id else { return nil }
        hosts[host]?.running += 1
        runningCount += 1
        waiting[id] = nil
        return id
    }

    /// Takes a slot for a transfer that has begun, whatever the limits.
    private mutating func nextContinued() -> Int? {
        guard let (id, place) = waiting.first(where: { $0.value.position.isContinued }) else { return nil }
        hosts[place.host]?.running += 1  // before it is removed, so that its host stays
        remove(id)
        runningCount += 1
        return id
    }

    /// Gives back the slot of a transfer to a host.
    mutating func finished(_ host: String) {
        hosts[host]?.running -= 1
        runningCount -= 1
        forgetIfUnused(host)
    }

    /// Whether from now on a connection to this host takes many transfers.
    mutating func setMultiplexed(_ isMultiplexed: Bool, _ host: String) {
        if isMultiplexed {
            // A bound for programs that visit hosts without end; one that is forgotten is recognised again.
            if multiplexedHosts.count >= 1_000 { multiplexedHosts = [] }
            multiplexedHosts.insert(host)
        } else if !multiplexedHosts.isEmpty {
            multiplexedHosts.remove(host)
        }
    }

    private mutating func insert(_ id: Int, _ host: String, _ position: Position) {
        waiting[id] = (host, position)
        let index = hosts[host, default: Host()].insertionIndex(of: position)
        hosts[host, default: Host()].waiting.insert((position, id), at: index)
    }

    private mutating func forgetIfUnused(_ host: String) {
        if let known = hosts[host], known.waiting.isEmpty, known.running == 0 { hosts[host] = nil }
    }

    /// The host whose first transfer goes first, among those with room.
    private func bestHost(except excluded: String? = nil) -> String? {
        var best: (host: String, position: Position)?
        for (name, host) in hosts where name != excluded {
            let limit = multiplexedHosts.contains(name) ? Self.perMultiplexedHost : perHost
            guard let first = host.waiting.last, host.running < limit else { continue }
            if best.map({ $0.position < first.position }) ?? true { best = (name, first.position) }
        }
        return best?.host
    }
}
