// What a decoder says: first how it is locked, then that an answer is there. Read here, where nothing of it is
// believed.

/// The message that announces an answer: its number and sizes, which are checked before they are used.
package struct AnswerHeader {
    /// The number of the request.
    package var number: Int
    /// How many bytes of the memory for answers the answer has, without its pixels.
    package var bodyCount: Int
    /// How many bytes it has in all; where they are more than the memory holds, the answer has not been written.
    package var count: Int

    package init(number: Int, bodyCount: Int, count: Int) {
        (self.number, self.bodyCount, self.count) = (number, bodyCount, count)
    }

    package var message: [UInt8] {
        var writer = MessageWriter()
        for value in [number, bodyCount, count] { writer.add(value) }
        return writer.bytes
    }

    init(_ message: [UInt8]) throws(MalformedMessage) {
        var reader = MessageReader(message)
        (number, bodyCount, count) = (try reader.count(), try reader.count(), try reader.count())
        guard bodyCount > 0, count >= bodyCount else { throw MalformedMessage() }
    }
}

/// The first message of a decoder: its version, and which locks are in force or which one failed.
package struct DecoderGreeting: Sendable, Hashable {
    /// Programs and decoders of different versions do not understand each other.
    private static let version = 2

    /// What failed while it locked itself, after which it ends; empty when it is locked.
    package var failure = ""
    /// The ABI of the Landlock in force, 0 for none.
    package var landlock: Int
    package var seccomp: Bool
    package var limits: Bool

    package init(landlock: Int, seccomp: Bool, limits: Bool) {
        (self.landlock, self.seccomp, self.limits) = (landlock, seccomp, limits)
    }

    /// A decoder that cannot be used.
    package init(failure: String) {
        self.init(landlock: 0, seccomp: false, limits: false)
        self.failure = failure
    }

    package var message: [UInt8] {
        var writer = MessageWriter()
        writer.add("kf-decoder")
        writer.add(Self.version)
        writer.add(failure)
        writer.add(landlock)
        writer.add(seccomp)
        writer.add(limits)
        return writer.bytes
    }

    init(_ message: [UInt8]) throws(MalformedMessage) {
        var reader = MessageReader(message)
        guard try reader.string() == "kf-decoder", try reader.count() == Self.version else { throw MalformedMessage() }
        failure = try reader.string()
        landlock = try reader.int(in: 0...1_000)
        (seccomp, limits) = (try reader.bool(), try reader.bool())
    }
}
