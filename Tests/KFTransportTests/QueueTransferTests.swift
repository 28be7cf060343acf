// The queue before libcurl as servers see it: the number of requests that arrive at once, and their order.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

/// Transfers of one transport, all started and none awaited.
private final class Batch {
    let transport: CurlTransport
    private(set) var running: [(recorder: Recorder, task: any TransportTask)] = []

    init(total: Int = 128, perHost: Int = 16) {
        var configuration = CurlTransport.Configuration()
        configuration.maxConcurrentTransfers = total
        configuration.connectionsPerHost = perHost
        transport = CurlTransport(configuration: configuration)
    }

    @discardableResult
    func start(_ url: URL, priority: Float? = nil, order: TransferOrder = .oldestFirst) -> any TransportTask {
        var policy = TransportPolicy.patient
        policy.order = order
        let recorder = Recorder()
        let task = transport.start(URLRequest(url: url), policy: policy, events: recorder)
        if let priority { task.priority = priority }
        running.append((recorder, task))
        return task
    }

    func start(_ count: Int, _ url: URL) {
        for _ in 0..<count { start(url) }
    }

    /// Waits for all transfers, and returns their errors.
    func errors() async -> [TransportError] {
        var errors: [TransportError] = []
        for (recorder, _) in running {
            if let error = await recorder.end() { errors.append(error) }
            #expect(recorder.log.violations == [])
        }
        return errors
    }

    func waits(_ waiting: Int, running: Int) async throws {
        try await until("\(waiting) wait, \(running) run") {
            transport.queueStatus == CurlTransport.QueueStatus.of(waiting, running)
        }
    }
}

extension CurlTransport.QueueStatus {
    fileprivate static func of(_ waiting: Int, _ running: Int) -> Self {
        var status = Self()
        (status.waiting, status.running) = (waiting, running)
        return status
    }
}

extension TestServer {
    /// Holds a path until the gate opens.
    fileprivate func hold(_ path: String, until gate: Gate) {
        route(path, TestResponse.data(Data([1])).with { $0.gate = gate })
    }

    fileprivate var paths: [String] { requests.map(\.path) }
}

@Suite(.timeLimit(.minutes(5))) struct QueueTransferTests {
    /// Holds the only slot, starts what `prepare` starts, and returns the paths in the order they arrived.
    private func order(of prepare: (Batch, TestServer) throws -> Void) async throws -> [String] {
        var paths: [String] = []
        try await withServer { server in
            let (gate, batch) = (Gate(), Batch(total: 1))
            server.hold("/hold", until: gate)
            batch.start(server.url("/hold"))
            await server.waitForRequests(to: "/hold")
            try prepare(batch, server)
            // Once this one waits, the queue has all those that were started before it: a slot goes to one of these.
            let last = Recorder()
            let task = batch.transport.start(URLRequest(url: server.url("/last")), policy: .patient, events: last)
            try await batch.waits(batch.running.count, running: 1)
            task.cancel()
            #expect(await last.end()?.code == .cancelled)
            gate.open()
            #expect(await batch.errors().isEmpty)
            paths = server.paths
        }
        return Array(paths.dropFirst())
    }

    @Test("A host never gets more connections than it may") func connectionsPerHost() async throws {
        try await withServer { server in
            let (gate, batch) = (Gate(), Batch(perHost: 3))
            server.hold("/a", until: gate)
            batch.start(30, server.url("/a"))
            await server.waitForRequests(3, to: "/a")
            try await batch.waits(27, running: 3)
            #expect(server.count("/a") == 3)
            gate.open()
            #expect(await batch.errors().isEmpty)
            #expect(server.count("/a") == 30)
            #expect(server.connectionCount == 3)
            try await batch.waits(0, running: 0)
        }
    }

    @Test("The number of connections of a host may change while transfers wait") func changedConnections() async throws
    {
        try await withServer { server in
            let (gate, batch) = (Gate(), Batch(perHost: 2))
            server.hold("/a", until: gate)
            batch.start(10, server.url("/a"))
            await server.waitForRequests(2, to: "/a")
            batch.transport.configuration.connectionsPerHost = 5
            await server.waitForRequests(5, to: "/a")
            try await batch.waits(5, running: 5)
            gate.open()
            #expect(await batch.errors().isEmpty)
            #expect(server.connectionCount == 5)
        }
    }

    @Test("A higher priority goes first, whatever the order of arrival") func priorities() async throws {
        let paths = try await order { batch, server in
            for priority in [0.25, 0.75, 0.5, 1, 0] as [Float] {
                batch.start(server.url("/\(Int(priority * 100))"), priority: priority)
            }
        }
        #expect(paths == ["/100", "/75", "/50", "/25", "/0"])
    }

    @Test("Within one priority, newest-first transfers go before others, which keep their order of arrival")
    func newestFirst() async throws {
        let paths = try await order { batch, server in
            for index in 1...3 { batch.start(server.url("/old\(index)")) }
            for index in 1...3 { batch.start(server.url("/new\(index)"), order: .newestFirst) }
        }
        #expect(paths == ["/new3", "/new2", "/new1", "/old1", "/old2", "/old3"])
    }

    @Test("A transfer whose priority rises or falls while it waits moves") func raisedPriority() async throws {
        let paths = try await order { batch, server in
            let tasks = (1...5).map { batch.start(server.url("/\($0)")) }
            tasks[4].priority = 0.9
            tasks[3].priority = 0.9
            tasks[0].priority = 0.1
        }
        #expect(paths == ["/4", "/5", "/2", "/3", "/1"])
    }

    @Test("A transfer that is cancelled while it waits never reaches the server") func cancelledWaiting() async throws {
        let cancelled = Locked<[Recorder]>([])
        try await withServer { server in
            let (gate, batch) = (Gate(), Batch(total: 1))
            server.hold("/hold", until: gate)
            batch.start(server.url("/hold"))
            await server.waitForRequests(to: "/hold")
            for index in 0..<20 {
                let task = batch.start(server.url(index % 2 == 0 ? "/kept" : "/cancelled"))
                if index % 2 == 1 { task.cancel() }
            }
            // They end although the only slot is taken.
            for index in stride(from: 2, through: 20, by: 2) {
                #expect(await batch.running[index].recorder.end()?.code == .cancelled)
                cancelled.withLock { $0.append(batch.running[index].recorder) }
            }
            try await batch.waits(10, running: 1)
            gate.open()
            #expect(await batch.errors().map(\.code) == Array(repeating: .cancelled, count: 10))
            #expect(server.count("/kept") == 10)
            #expect(server.count("/cancelled") == 0)
        }
        #expect(cancelled.withLock { $0.flatMap(\.log.violations) } == [])
    }

    @Test("A higher limit starts waiting transfers at once") func raisedTotal() async throws {
        try await withServer { server in
            let (gate, batch) = (Gate(), Batch(total: 2))
            server.hold("/a", until: gate)
            batch.start(10, server.url("/a"))
            await server.waitForRequests(2, to: "/a")
            try await batch.waits(8, running: 2)
            batch.transport.configuration.maxConcurrentTransfers = 6
            await server.waitForRequests(6, to: "/a")
            try await batch.waits(4, running: 6)
            #expect(server.count("/a") == 6)
            gate.open()
            #expect(await batch.errors().isEmpty)
        }
    }

    @Test("With a lower limit running transfers go on, and none begins before the number is below the limit")
    func loweredTotal() async throws {
        try await withServer { server in
            let batch = Batch(total: 3)
            let gates = (0..<3).map { _ in Gate() }
            for index in 0..<3 {
                server.hold("/\(index)", until: gates[index])
                batch.start(server.url("/\(index)"))
            }
            for index in 0..<3 { await server.waitForRequests(to: "/\(index)") }
            server.route("/next", .data(Data([1])))
            batch.transport.configuration.maxConcurrentTransfers = 1
            batch.start(server.url("/next"))
            try await batch.waits(1, running: 3)
            for index in 0..<2 {
                gates[index].open()
                #expect(await batch.running[index].recorder.end() == nil)
                try await batch.waits(1, running: 2 - index)
                #expect(server.count("/next") == 0)
            }
            gates[2].open()
            #expect(await batch.errors().isEmpty)
            #expect(server.count("/next") == 1)
        }
    }

    @Test("A host does not take the last slot while another one waits") func severalHosts() async throws {
        try await withServer { first in
            try await withServer { second in
                let (gate, batch) = (Gate(), Batch(total: 1))
                defer { gate.open() }
                first.hold("/a", until: gate)
                second.route("/b", .data(Data([1])))
                batch.start(first.url("/a"))
                await first.waitForRequests(to: "/a")
                batch.start(10, first.url("/a"))
                let last = batch.start(second.url("/b"))
                batch.transport.configuration.maxConcurrentTransfers = 4
                // It came last, and all others of its priority wait for the gate.
                await second.waitForRequests(to: "/b")
                #expect(last.response == nil || (last.response as? HTTPURLResponse)?.statusCode == 200)
                #expect(await batch.running.last?.recorder.end() == nil)
                gate.open()
                #expect(await batch.errors().isEmpty)
            }
        }
    }
}
