// The answers of a Redis server, taken from its bytes as they come. For RedisSession.

internal import Foundation

/// An answer, in version 2 of the protocol.
enum RESPValue: Sendable, Equatable {
    case text(String)
    case error(String)
    case integer(Int)
    case bytes(Data)
    case array([RESPValue])
    /// There is no such value.
    case null
}

/// Takes answers from the bytes of a connection, however these are cut.
///
/// What it keeps is limited, whatever lengths the server claims. After a failure it is of no more use.
struct RESPReader {
    /// The bytes of the largest value that is stored and read.
    static let largestValue = 1 << 20
    /// The bytes of an answer, each element counted as 64 more.
    static let maximumSize = largestValue + 512 << 10
    private static let maximumLine = 8 << 10
    private static let maximumDepth = 8

    /// The line that has begun.
    private var line: [UInt8] = []
    /// The bytes that have begun, and how many are to come, with the line break behind them.
    private var bytes: (value: Data, missing: Int)?
    /// The arrays that have begun, the innermost last.
    private var arrays: [(count: Int, elements: [RESPValue])] = []
    /// How large the answer is so far.
    private var size = 0

    /// The next answer; nil if it needs more bytes than these.
    ///
    /// The bytes that were read are removed from `rest`.
    mutating func next(from rest: inout Slice<UnsafeRawBufferPointer>) throws(RedisFailure) -> RESPValue? {
        while !rest.isEmpty {
            let value = try bytes == nil ? begin(&rest) : complete(&rest)
            if let value, let answer = add(value) {
                size = 0
                return answer
            }
        }
        return nil
    }

    // MARK: Lines

    /// Reads a line.
    ///
    /// - Returns: Its value; nil if the line is incomplete, or is only the head of a longer value.
    private mutating func begin(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(RedisFailure) -> RESPValue? {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let part = rest[..<(end ?? rest.endIndex)]
        guard line.count + part.count <= Self.maximumLine else {
            throw RedisFailure(reason: "it sent a line without end")
        }
        line += part
        rest = rest[part.endIndex...].dropFirst()
        guard end != nil else { return nil }
        defer { line.removeAll(keepingCapacity: true) }
        guard line.popLast() == UInt8(ascii: "\r"), let kind = line.first else {
            throw RedisFailure(reason: "it sent what is no answer of Redis")
        }
        try count(line.count + 64)
        return try value(of: kind, String(decoding: line[1...], as: UTF8.self))
    }

    private mutating func value(of kind: UInt8, _ text: String) throws(RedisFailure) -> RESPValue? {
        switch kind {
        case UInt8(ascii: "+"): return .text(text)
        case UInt8(ascii: "-"): return .error(text)
        case UInt8(ascii: ":"): return .integer(try number(text))
        case UInt8(ascii: "$"):
            let length = try number(text)
            if length == -1 { return .null }
            try count(length)
            bytes = (Data(capacity: length), length + 2)
            return nil
        case UInt8(ascii: "*"):
            let length = try number(text)
            if length == -1 { return .null }
            guard (0...Self.maximumSize).contains(length), arrays.count < Self.maximumDepth else {
                throw RedisFailure(reason: "it sent an array that is too large")
            }
            if length == 0 { return .array([]) }
            arrays.append((length, []))
            return nil
        default: throw RedisFailure(reason: "it sent what is no answer of Redis")
        }
    }

    private func number(_ text: String) throws(RedisFailure) -> Int {
        guard let number = Int(text) else { throw RedisFailure(reason: "it sent a number that is none") }
        return number
    }

    private mutating func count(_ more: Int) throws(RedisFailure) {
        guard (0...Self.maximumSize - size).contains(more) else {
            throw RedisFailure(reason: "it sent an answer that is too large")
        }
        size += more
    }

    // MARK: Bytes and arrays

    /// Reads on in the bytes that have begun; returns them when they are complete.
    private mutating func complete(_ rest: inout Slice<UnsafeRawBufferPointer>) throws(RedisFailure) -> RESPValue? {
        guard var (value, missing) = bytes.take() else { return nil }
        let part = UnsafeRawBufferPointer(rebasing: rest.prefix(max(missing - 2, 0)))
        if let start = part.baseAddress?.assumingMemoryBound(to: UInt8.self) { value.append(start, count: part.count) }
        missing -= part.count
        rest = rest.dropFirst(part.count)
        while missing <= 2, missing > 0, let byte = rest.popFirst() {
            guard byte == (missing == 2 ? 13 : 10) else {
                throw RedisFailure(reason: "it sent a value of another length")
            }
            missing -= 1
        }
        if missing == 0 { return .bytes(value) }
        bytes = (value, missing)
        return nil
    }

    /// Adds a value to the array that has begun; returns the answer when it is complete.
    private mutating func add(_ value: RESPValue) -> RESPValue? {
        var value = value
        while var array = arrays.popLast() {
            array.elements.append(value)
            if array.elements.count < array.count {
                arrays.append(array)
                return nil
            }
            value = .array(array.elements)
        }
        return value
    }
}
