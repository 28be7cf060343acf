// What is under way on one connection to a Redis server. For RedisConnection.

internal import Foundation

/// Sends commands as they come, and gives the answers to their calls: a server answers in the order of the commands.
///
/// An answer that nobody waits for any more still takes its place in that order. For one thread.
final class RedisSession {
    let socket: RedisSocket
    private var reader = RESPReader()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16)

    /// Stays as it is, and where it is, until all of it is sent.
    private var outgoing: [UInt8] = []
    private var sentCount = 0

    /// Those that wait for an answer, and how many answers each needs; nil once it has them.
    private var waiting: [(call: RedisCall, answers: Int)?] = []
    /// The first of them that has not got it.
    private var first = 0
    /// How many calls got their answers since that was last asked for.
    private var answeredCount = 0
    /// When the server last answered, or was first asked again.
    private(set) var quietSince = ContinuousClock.now

    init(_ socket: RedisSocket) { self.socket = socket }

    deinit { buffer.deallocate() }

    /// Whether some bytes could not be sent yet; no commands are added until they are.
    var isSending: Bool { sentCount < outgoing.count }
    /// Whether no answer is to come.
    var isIdle: Bool { first == waiting.count }

    /// How many calls got their answers since the last time.
    func takeAnsweredCount() -> Int {
        defer { answeredCount = 0 }
        return answeredCount
    }

    /// Adds commands; those whose calls have ended meanwhile are left out.
    func add(_ requests: [RedisRequest]) {
        if isIdle { quietSince = .now }
        for request in requests {
            guard request.call.resultIfEnded == nil else {
                answeredCount += 1
                continue
            }
            outgoing += request.command.bytes
            waiting.append((request.call, request.command.answers))
        }
    }

    /// Sends and receives what goes without waiting; returns whether there may be more to receive.
    func work() throws(RedisFailure) -> Bool {
        try send()
        // Not more at a time: there may be new commands.
        for _ in 0..<4 {
            guard let count = try socket.receive(into: buffer) else { return false }
            quietSince = .now
            var rest = Slice(base: UnsafeRawBufferPointer(buffer), bounds: 0..<count)
            while let answer = try reader.next(from: &rest) { try deliver(answer) }
        }
        return true
    }

    private func send() throws(RedisFailure) {
        while isSending {
            let count = try outgoing.withUnsafeBufferPointer { bytes throws(RedisFailure) in
                try socket.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[sentCount...]))
            }
            if count == 0 { return }
            sentCount += count
        }
        outgoing.removeAll(keepingCapacity: outgoing.count < 1 << 20)
        sentCount = 0
    }

    private func deliver(_ answer: RESPValue) throws(RedisFailure) {
        guard !isIdle, let (call, answers) = waiting[first] else {
            throw RedisFailure(reason: "it sent an answer that was not asked for")
        }
        guard answers == 1 else {
            waiting[first] = (call, answers - 1)
            return
        }
        call.end(.success(answer))
        answeredCount += 1
        waiting[first] = nil
        first += 1
        if first == waiting.count || first >= 4_096 {
            waiting.removeFirst(first)
            first = 0
        }
        // After a failover the name of the server may lead to the new primary.
        if case .error(let text) = answer, text.hasPrefix("READONLY") {
            throw RedisFailure(reason: "it has become a replica")
        }
    }

    /// Ends all calls: the connection is gone.
    func fail(_ error: RedisError) {
        for case let (call, _)? in waiting[first...] { call.end(.failure(error)) }
        (waiting, first) = ([], 0)
    }
}
