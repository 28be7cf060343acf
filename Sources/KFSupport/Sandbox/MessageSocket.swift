// A connection of two processes that keeps messages apart. For decoders and those who start them.

import CKFLinux
import Foundation

/// One end of a connection between two processes; it sends and receives short messages, with files attached.
///
/// For one thread at a time. It is closed with its last owner.
package struct MessageSocket: Sendable {
    /// A message that has arrived.
    package struct Message {
        package let bytes: [UInt8]
        package let files: [OwnedDescriptor]
    }

    /// Why there is no message.
    package enum Failure: Error, Equatable {
        /// The other end is closed, as it is when its process has ended.
        case closed
        /// None has come in time.
        case late
        /// It cannot be sent or received; the error number.
        case system(Int32)
    }

    /// The longest message, in bytes.
    package static let longest = 4096

    private let end: OwnedDescriptor

    /// The end of a connection.
    package init(_ end: OwnedDescriptor) { self.end = end }

    /// Makes both ends of a connection; the second one is for another process.
    ///
    /// - Returns: The ends.
    /// - Throws: ``SystemError``.
    package static func pair() throws(SystemError) -> (own: MessageSocket, other: OwnedDescriptor) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutablePointer(to: &ends) { ends in
            ends.withMemoryRebound(to: Int32.self, capacity: 2) { kf_message_ends($0) }
        }
        guard result == 0 else { throw SystemError("making a connection to a process") }
        return (MessageSocket(OwnedDescriptor(ends.0)), OwnedDescriptor(ends.1))
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - bytes: At most ``longest``.
    ///   - files: At most two, which stay open here.
    /// - Throws: ``Failure``.
    package func send(_ bytes: [UInt8], files: [OwnedDescriptor] = []) throws(Failure) {
        let numbers = files.map(\.number)
        let result = bytes.withUnsafeBytes {
            kf_send_message(end.number, $0.baseAddress, $0.count, numbers, Int32(numbers.count))
        }
        withExtendedLifetime(files) {}
        guard result == 0 else {
            throw errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN ? .closed : .system(errno)
        }
    }

    /// Waits for a message.
    ///
    /// - Parameter deadline: How long; nil without end.
    /// - Returns: The message.
    /// - Throws: ``Failure``.
    package func receive(until deadline: SuspendingClock.Instant? = nil) throws(Failure) -> Message {
        if let deadline { try wait(until: deadline) }
        guard let message = try take(waits: true) else { throw .late }
        return message
    }

    /// Whether a message has arrived, or the other end is closed.
    package var hasNews: Bool {
        var wanted = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, 0) != 0
    }

    /// Waits until the other end is closed; messages stay where they are.
    package func waitForEnd() {
        var wanted = pollfd(fd: end.number, events: 0, revents: 0)
        while poll(&wanted, 1, -1) <= 0 {}
    }

    private func wait(until deadline: SuspendingClock.Instant) throws(Failure) {
        var wanted = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
        while true {
            let left = deadline - .now
            guard left > .zero else { throw .late }
            let count = poll(&wanted, 1, left.milliseconds)
            if count > 0 { return }
            guard count == 0 || errno == EINTR || errno == EAGAIN else { throw .system(errno) }
        }
    }

    private func take(waits: Bool) throws(Failure) -> Message? {
        var files: (Int32, Int32) = (-1, -1)
        var (fileCount, count) = (Int32(0), 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.longest) { buffer, initialized in
            count = withUnsafeMutablePointer(to: &files) { files in
                files.withMemoryRebound(to: Int32.self, capacity: 2) {
                    kf_receive_message(end.number, buffer.baseAddress, buffer.count, waits, $0, &fileCount)
                }
            }
            initialized = max(0, count)
        }
        let failure = errno
        if count == 0 || count < 0 && failure == ECONNRESET { throw .closed }
        if count < 0 && failure == EAGAIN { return nil }
        guard count > 0 else { throw .system(failure) }
        return Message(bytes: bytes, files: [files.0, files.1].prefix(Int(fileCount)).map { OwnedDescriptor($0) })
    }
}
