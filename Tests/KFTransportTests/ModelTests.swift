// Ten thousand random transfers against a server that misbehaves at random, and the conditions that hold for all of
// them.

import Foundation
import FoundationNetworking
import KFSupport
import KFTransport
import KingfisherTestSupport
import Testing

struct ModelTests {
    @Test(
        "Transfers that fail, end or are cancelled at random each end once and as expected, and leave nothing behind",
        .timeLimit(.minutes(10))
    )
    func random() async {
        // The test runs in a process of its own, whose threads and descriptors all belong to the model.
        await #expect(processExitsWith: .success) {
            // Here the process gets what it makes only once, such as the threads of Swift's tasks.
            try await Model(seed: 1).run(200)
            let descriptors = ThisProcess.descriptorCount
            try await Model(seed: 20_261_123).run(10_000)
            try await until("the thread ends") { !ThisProcess.threadNames.contains("kf.curl") }
            try await until("all descriptors are closed") { ThisProcess.descriptorCount <= descriptors }
        }
    }
}

/// A gate that is replaced when it opens.
private final class Valve: Sendable {
    private let gate = Locked(Gate())
    func wait() async { await gate.withLock { $0 }.wait() }
    func release() {
        let old = gate.withLock { gate in
            defer { gate = Gate() }
            return gate
        }
        old.open()
    }
}

/// One run of random transfers.
private final class Model: Sendable {
    private enum Kind: CaseIterable {
        case plain, chunked, large, redirect, missing, held, cut, reset, resetBeforeHead, refused, unknownHost

        /// The error of the transfer if it is not cancelled; nil for success.
        var code: URLError.Code? {
            switch self {
            case .plain, .chunked, .large, .redirect, .missing, .held: nil
            case .cut, .reset, .resetBeforeHead: .networkConnectionLost
            case .refused: .cannotConnectToHost
            case .unknownHost: .cannotFindHost
            }
        }
    }

    private enum Cancelling: CaseIterable { case never, before, during, withFirstData, after }

    private static let small = hundredKilobytes.prefix(3_000)
    private static let large = hundredKilobytes + hundredKilobytes + hundredKilobytes

    private let seed: Int
    private let valve = Valve()
    private let recorders = Locked<[Recorder]>([])
    private let isOver = Gate()

    init(seed: Int) { self.seed = seed }

    /// Runs transfers, 200 at a time.
    func run(_ count: Int) async throws {
        let port = try RefusingPort()
        try await withServer { server in
            route(on: server)
            let transport = CurlTransport()
            async let conducting: Void = conduct(transport)
            await withTaskGroup(of: Void.self) { group in
                for worker in 0..<200 {
                    group.addTask {
                        var dice = SeededGenerator(state: UInt64(self.seed &+ worker))
                        for _ in 0..<(count / 200) { await self.transfer(on: transport, server, port, &dice) }
                    }
                }
            }
            isOver.open()
            try await conducting
            try await until("the queue is empty") { transport.queueStatus == CurlTransport.QueueStatus() }
            let all = recorders.withLock { $0 }
            #expect(all.count == count)
            #expect(all.flatMap(\.log.violations) == [])
            #expect(all.count { $0.log.isComplete } == count)
        }
        withExtendedLifetime(port) {}
    }

    private func route(on server: TestServer) {
        server.route("/plain", .data(Self.small))
        server.route("/chunked", .data(Self.small).with { ($0.framing, $0.pieceSize) = (.chunked, 700) })
        server.route("/large", .data(Self.large))
        server.route("/redirect", .redirect(to: "/plain"))
        server.route("/cut", .data(Self.small).with { $0.interruption = .cut(after: 1_000) })
        server.route("/reset", .data(Self.small).with { $0.interruption = .reset(after: 1_000) })
        server.route("/resetBeforeHead", .data(Self.small).with { $0.interruption = .resetBeforeHead })
        server.route("/held") { [valve] _ in
            await valve.wait()
            return .data(Self.small)
        }
    }

    /// Releases held responses and changes the configuration, until all transfers have ended.
    private func conduct(_ transport: CurlTransport) async throws {
        var dice = SeededGenerator(state: UInt64(seed))
        while !isOver.isOpen {
            try await Task.sleep(for: .milliseconds(5))
            valve.release()
            var configuration = transport.configuration
            configuration.connectionsPerHost = .random(in: 1...32, using: &dice)
            configuration.maxConcurrentTransfers = .random(in: 1...128, using: &dice)
            transport.configuration = configuration
        }
    }

    /// One transfer, from its start to its end.
    private func transfer(
        on transport: CurlTransport,
        _ server: TestServer,
        _ port: RefusingPort,
        _ dice: inout SeededGenerator
    ) async {
        // Looking up a name takes longer than anything else.
        var kind = Kind.unknownHost
        if dice.next() % 100 > 0 { kind = Kind.allCases.dropLast().randomElement(using: &dice) ?? .plain }
        let cancelling = dice.next() % 2 == 0 ? .never : Cancelling.allCases.randomElement(using: &dice) ?? .never
        let url =
            switch kind {
            case .refused: port.url("/a")
            case .unknownHost: URL(string: "http://nowhere.invalid/a") ?? port.url("/a")
            default: server.url("/\(kind)")
            }
        let cancel = Promise<any TransportTask>()
        let recorder = recorder(&dice, onData: cancelling == .withFirstData ? cancel : nil)
        recorders.withLock { $0.append(recorder) }
        let task = transport.start(URLRequest(url: url), policy: .patient, events: recorder)
        cancel.fulfil(task)
        if cancelling == .before { task.cancel() }
        if dice.next() % 3 == 0 { task.priority = .random(in: 0...1, using: &dice) }
        if cancelling == .during {
            for _ in 0..<Int.random(in: 0...200, using: &dice) { await Task.yield() }
            task.cancel()
        }
        let error = await recorder.end()
        if cancelling == .after { task.cancel() }
        check(recorder, error, kind, mayBeCancelled: ![.never, .after].contains(cancelling))
    }

    /// Pauses at random, for as long as some tasks take to yield.
    private func recorder(_ dice: inout SeededGenerator, onData cancelled: Promise<any TransportTask>?) -> Recorder {
        func pause<Value>(_ value: Value) -> TransportDecision<Value> {
            guard dice.next() % 3 == 0 else { return .now(value) }
            let count = Int.random(in: 0...50, using: &dice)
            return .later {
                for _ in 0..<count { await Task.yield() }
                return value
            }
        }
        let (response, data) = (pause(TransportDisposition.allow), pause(()))
        let declines = dice.next() % 4 == 0
        return Recorder(
            redirecting: { _, proposed in declines ? .later { proposed } : .now(proposed) },
            disposition: { _ in response },
            receiving: { _ in
                cancelled?.valueIfFulfilled?.cancel()
                return data
            }
        )
    }

    private func check(_ recorder: Recorder, _ error: TransportError?, _ kind: Kind, mayBeCancelled: Bool) {
        if mayBeCancelled, error?.code == .cancelled { return }
        #expect(error?.code == kind.code, "\(kind): \(error?.description ?? "success")")
        guard kind.code == nil else { return }
        #expect(recorder.http?.statusCode == (kind == .missing ? 404 : 200))
        #expect(recorder.log.hops.count == (kind == .redirect ? 1 : 0))
        let isWhole =
            switch kind {
            case .missing: true
            case .large: recorder.received(Self.large)
            default: recorder.received(Self.small)
            }
        #expect(isWhole, "\(kind)")
    }
}
