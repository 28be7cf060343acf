// Sends each command to the node of its key, in a cluster or to a single server. For RedisTier.

internal import KFSupport

/// The nodes of a tier.
///
/// A cluster is recognised by its first redirect; from then on it is known which node has which slots. That is learned
/// again when a node redirects or cannot be reached.
final class RedisRouter: Sendable {
    private struct State {
        var nodes: [RedisEndpoint: RedisNode]
        /// The node of each slot; empty as long as there seems to be no cluster.
        var owners: [RedisEndpoint?] = []
        var isLearning = false
        var learned: ContinuousClock.Instant?
    }

    /// One thread each.
    private static let maximumNodes = 100
    private static let maximumRedirects = 5

    private let seeds: [RedisEndpoint]
    private let settings: RedisSettings
    private let state: Locked<State>

    /// Connects to the nodes that are known from the start.
    init(_ seeds: [RedisEndpoint], _ settings: RedisSettings) {
        (self.seeds, self.settings) = (seeds, settings)
        let nodes = seeds.map { ($0, RedisNode($0, settings)) }
        state = Locked(State(nodes: Dictionary(nodes) { first, _ in first }))
    }

    /// The answer of the node of a key.
    ///
    /// - Throws: `RedisError` if it is an error, or does not come; `CancellationError`.
    func send(_ command: RedisCommand, key: String) async throws -> RESPValue {
        var node = try node(of: key)
        var command = (plain: command, sent: command)
        for _ in 0...Self.maximumRedirects {
            let answer = try await send(command.sent, to: node)
            guard let redirect = RedisRedirect(answer, from: node.endpoint) else {
                guard case .error(let text) = answer else { return answer }
                throw RedisError(.refused, "Redis at \(node.endpoint) answers: \(RedisError.readable(text))")
            }
            switch redirect {
            case .moved(let slot, let endpoint):
                (node, command.sent) = (try moved(slot, to: endpoint), command.plain)
                learn()
            case .ask(let endpoint): (node, command.sent) = (try self.node(endpoint), command.plain.asking)
            }
        }
        throw RedisError(.refused, "Redis at \(node.endpoint) has redirected a command too often.")
    }

    private func send(_ command: RedisCommand, to node: RedisNode) async throws -> RESPValue {
        do {
            return try await node.send(command)
        } catch {
            if !(error is CancellationError), state.withLock({ !$0.owners.isEmpty }) { learn() }
            throw error
        }
    }

    // MARK: Nodes

    private func node(of key: String) throws(RedisError) -> RedisNode {
        let owner = state.withLock { state in
            state.owners.isEmpty ? nil : state.owners[RedisSlots.slot(of: key)]
        }
        if let owner { return try node(owner) }
        return try anyNode
    }

    private func moved(_ slot: Int, to endpoint: RedisEndpoint) throws(RedisError) -> RedisNode {
        state.withLock { state in
            if state.owners.isEmpty { state.owners = Array(repeating: nil, count: RedisSlots.count) }
            state.owners[slot] = endpoint
        }
        return try node(endpoint)
    }

    private func node(_ endpoint: RedisEndpoint) throws(RedisError) -> RedisNode {
        let node = state.withLock { state -> RedisNode? in
            if let node = state.nodes[endpoint] { return node }
            guard state.nodes.count < Self.maximumNodes else { return nil }
            let node = RedisNode(endpoint, settings)
            state.nodes[endpoint] = node
            return node
        }
        guard let node else {
            throw RedisError(.notConnected, "Redis at \(endpoint) is not asked: more than \(Self.maximumNodes) nodes.")
        }
        return node
    }

    /// The node that most likely can be asked.
    private var anyNode: RedisNode {
        get throws(RedisError) {
            let nodes = state.withLock { state in seeds.compactMap { state.nodes[$0] } + state.nodes.values }
            guard let best = nodes.max(by: { $0.readiness < $1.readiness }) else { return try node(seeds[0]) }
            return best
        }
    }

    // MARK: Learning

    /// Begins to ask a node which one has which slots, unless that is being done, or was done just now.
    private func learn() {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if state.isLearning { return false }
            if let last = state.learned, now - last < .milliseconds(200) { return false }
            (state.isLearning, state.learned) = (true, now)
            return true
        }
        guard isDue else { return }
        Task {
            let owners = await askForOwners()
            state.withLock { state in
                state.isLearning = false
                guard let owners else { return }
                state.owners = owners
                // Those that are left have no slots any more; calls that they have yet to answer keep them.
                let wanted = Set(owners.compactMap(\.self)).union(seeds)
                state.nodes = state.nodes.filter { wanted.contains($0.key) }
            }
        }
    }

    private func askForOwners() async -> [RedisEndpoint?]? {
        guard let node = try? anyNode, let answer = try? await node.send(RedisCommand("CLUSTER", "SLOTS")) else {
            return nil
        }
        return RedisSlots.owners(answer, from: node.endpoint)
    }
}
