// Values as bytes, between a program and its decoders. For requests and answers.

import Foundation

/// Bytes that values are added to.
package struct MessageWriter {
    package private(set) var bytes: [UInt8] = []

    mutating func add(_ value: Int) { withUnsafeBytes(of: Int64(value)) { bytes.append(contentsOf: $0) } }
    mutating func add(_ value: Bool) { add(value ? 1 : 0) }
    mutating func add(_ value: Double) { add(Int(Int64(bitPattern: value.bitPattern))) }

    mutating func add(_ value: String) {
        add(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    mutating func add(_ value: Data) {
        add(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func add<Value>(_ value: Value?, _ write: (inout MessageWriter, Value) -> Void) {
        add(value != nil)
        if let value { write(&self, value) }
    }
}

/// The message has another form than it should have: who sent it is not what it should be.
struct MalformedMessage: Error {}

/// Reads values in the order in which they were written, and believes nothing: a value that cannot be right is an
/// error.
package struct MessageReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    private mutating func take(_ count: Int) throws(MalformedMessage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw MalformedMessage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func int(in range: ClosedRange<Int>) throws(MalformedMessage) -> Int {
        let value = Int(try take(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }.signed)
        guard range.contains(value) else { throw MalformedMessage() }
        return value
    }

    /// A number that is not negative.
    mutating func count() throws(MalformedMessage) -> Int { try int(in: 0...Int.max) }

    /// A width or a height.
    mutating func side() throws(MalformedMessage) -> Int { try int(in: 1...1 << 32) }

    mutating func size() throws(MalformedMessage) -> PixelSize { PixelSize(try side(), try side()) }

    mutating func bool() throws(MalformedMessage) -> Bool { try int(in: 0...1) == 1 }

    mutating func double() throws(MalformedMessage) -> Double {
        Double(bitPattern: UInt64(bitPattern: Int64(try int(in: Int.min...Int.max))))
    }

    /// About how much of something is used, 1 being all.
    mutating func share() throws(MalformedMessage) -> Double {
        let value = try double()
        guard value > 0, value <= 2 else { throw MalformedMessage() }
        return value
    }

    /// A number of seconds.
    mutating func seconds() throws(MalformedMessage) -> Double {
        let value = try double()
        guard value.isFinite, value >= 0 else { throw MalformedMessage() }
        // More than a year.
        return min(value, 1e8)
    }

    /// A text of a line, a thousand bytes at most.
    mutating func string() throws(MalformedMessage) -> String {
        String(decoding: try take(try count()).prefix(1_000).filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self)
    }

    mutating func data() throws(MalformedMessage) -> Data { Data(try take(try count())) }

    mutating func optional<Value>(
        _ read: (inout MessageReader) throws(MalformedMessage) -> Value
    ) throws(MalformedMessage) -> Value? {
        try bool() ? try read(&self) : nil
    }
}

extension UInt64 {
    fileprivate var signed: Int64 { Int64(bitPattern: self) }
}
