// What a Redis server is asked for: commands as bytes, and who waits for their answers. For RedisNode.

internal import Foundation
internal import KFSupport

/// A command as it is sent.
struct RedisCommand: Sendable {
    private(set) var bytes: [UInt8] = []
    /// How many answers come; the last one counts.
    private(set) var answers = 1

    /// A command of words.
    init(_ words: String...) { self.init(words) }

    /// A command of words, values behind them, and further words.
    init(_ words: [String], values: [Data] = [], _ further: [String] = []) {
        let count = words.count + values.count + further.count
        let size = words.reduce(values.reduce(0) { $0 + $1.count }) { $0 + $1.utf8.count }
        bytes.reserveCapacity(32 * count + size)
        bytes += "*\(count)\r\n".utf8
        for word in words { add(word.utf8) }
        for value in values { add(value) }
        for word in further { add(word.utf8) }
    }

    private mutating func add(_ part: some Collection<UInt8>) {
        bytes += "$\(part.count)\r\n".utf8
        bytes += part
        bytes += "\r\n".utf8
    }

    /// The same for a node that is about to get the key from another one.
    var asking: Self {
        var command = Self("ASKING")
        command.bytes += bytes
        command.answers += answers
        return command
    }
}

/// Who waits for the answer of a command.
final class RedisCall: Sendable {
    private let result = Promise<Result<RESPValue, any Error>>()

    /// Ends the call, unless it has ended.
    func end(_ result: Result<RESPValue, any Error>) { self.result.fulfil(result) }

    /// The answer, if the call has ended.
    var resultIfEnded: Result<RESPValue, any Error>? { result.valueIfFulfilled }

    /// The answer; a cancelled task does not wait for it.
    var answer: RESPValue {
        get async throws {
            try await result.value { end(.failure(CancellationError())) }.get()
        }
    }
}

/// A command that is to be sent.
struct RedisRequest: Sendable {
    let command: RedisCommand
    let call = RedisCall()
}
