// The byte stream of one connection of the test server, plain or TLS, and waiting on it.

internal import CKFLinux
internal import Foundation
internal import Glibc
internal import KFSupport

/// A connection's socket, which the server can end from any thread.
final class TestSocket: Sendable {
    /// The socket; open as long as the connection's thread runs.
    let descriptor: Int32
    private let isOpen = Locked(true)
    /// Opens when the connection is closed.
    let disconnected = Gate()

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Ends the connection; its thread stops waiting and ends.
    func shutDown() {
        isOpen.withLock { isOpen in
            if isOpen { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes the socket: the last thing that the connection's thread does with it.
    ///
    /// A reset is noticed by the client at once, even if it has not read everything.
    func close(resetting: Bool) {
        if resetting {
            var atOnce = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
        }
        isOpen.withLock { isOpen in
            isOpen = false
            // Not left to `close`: a child process of the test may have the descriptor, too.
            if !resetting { _ = shutdown(descriptor, Int32(SHUT_WR)) }
            _ = Foundation.close(descriptor)
        }
        disconnected.open()
    }
}

/// The bytes of a connection; blocking, for the connection's thread only.
final class TestStream {
    /// The connection is over.
    struct End: Error {}

    private let socket: TestSocket
    private let tls: TLSSession?
    private var wakeUp: WakeUp?

    /// Makes the TLS handshake if there is a certificate.
    init(_ socket: TestSocket, _ context: TestTLS?) throws(End) {
        self.socket = socket
        tls = context.flatMap { TLSSession($0, socket: socket.descriptor) }
        if context != nil, tls == nil { throw End() }
    }

    deinit { wakeUp?.close() }

    /// Appends the bytes that are available, at least one.
    func read(into buffer: inout [UInt8]) throws(End) {
        let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { room in
            let count = tls?.read(into: room) ?? recv(socket.descriptor, room.baseAddress, room.count, 0)
            if count > 0 { buffer += room[..<count] }
            return count
        }
        guard count > 0 else { throw End() }
    }

    /// Writes all bytes; with `thenMore`, the following ones share packets with them.
    func write(_ bytes: [UInt8], thenMore: Bool = false) throws(End) {
        let flags = Int32(MSG_NOSIGNAL) | (thenMore ? Int32(MSG_MORE) : 0)
        let isWritten = bytes.withUnsafeBytes { bytes in
            var start = 0
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let count = tls?.write(rest) ?? send(socket.descriptor, rest.baseAddress, rest.count, flags)
                guard count > 0 else { return false }
                start += count
            }
            return true
        }
        if !isWritten { throw End() }
    }

    /// Sends the end of TLS, so that the client does not take it for a cut.
    func sayGoodbye() { tls?.sayGoodbye() }
}

// MARK: - Waiting

extension TestStream {
    /// POLLRDHUP, which the Glibc module does not export: the client has closed its side.
    private static let hasHungUp: Int16 = 0x2000

    /// Waits for the value of an asynchronous operation, at most until the client has disconnected.
    func wait<Value: Sendable>(for operation: @escaping @Sendable () async -> Value) throws(End) -> Value {
        let (promise, wakeUp) = (Promise<Value>(), try wakeUpOfThread())
        Task {
            promise.fulfil(await operation())
            wakeUp.signal()
        }
        while true {
            if let value = promise.valueIfFulfilled { return value }
            try poll(wakeUp, milliseconds: -1)
            wakeUp.clear()
        }
    }

    /// Waits until a gate is open, at most until the client has disconnected.
    func wait(for gate: Gate) throws(End) {
        if !gate.isOpen { try wait { await gate.wait() } }
    }

    /// Waits for a while, at most until the client has disconnected.
    func wait(for duration: Duration) throws(End) {
        let end = ContinuousClock.now + duration
        while true {
            let left = (end - .now) / .milliseconds(1)
            if left <= 0 { return }
            try poll(nil, milliseconds: Int32(min(left.rounded(.up), 60_000)))
        }
    }

    /// Waits until the client has disconnected.
    func waitForEnd() throws(End) -> Never {
        while true { try poll(nil, milliseconds: -1) }
    }

    /// Waits until all that was written has reached the client's system.
    func waitForDelivery() throws(End) {
        var waiting: Int32 = 0
        while ioctl(socket.descriptor, UInt(TIOCOUTQ), &waiting) == 0, waiting > 0 { try poll(nil, milliseconds: 1) }
    }

    private func poll(_ wakeUp: WakeUp?, milliseconds: Int32) throws(End) {
        var ends = [
            pollfd(fd: socket.descriptor, events: Self.hasHungUp, revents: 0),
            pollfd(fd: wakeUp?.readable ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        Foundation.poll(&ends, 2, milliseconds)
        if ends[0].revents != 0 { throw End() }
    }

    private func wakeUpOfThread() throws(End) -> WakeUp {
        if let wakeUp { return wakeUp }
        guard let new = WakeUp() else { throw End() }
        wakeUp = new
        return new
    }
}

/// Wakes a thread that polls; may be signalled by tasks that live longer than that thread.
private final class WakeUp: Sendable {
    /// Can be read from once signalled; for the thread that polls.
    let readable: Int32
    private let writable: Locked<Int32>

    /// Nil if the process has no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard kf_pipe(&ends) == 0 else { return nil }
        readable = ends[0]
        writable = Locked(ends[1])
    }

    func signal() {
        writable.withLock { writable in
            if writable >= 0 { _ = write(writable, [1], 1) }
        }
    }

    /// Clears the signals; waits for one if there is none.
    func clear() {
        var signals = [UInt8](repeating: 0, count: 16)
        _ = read(readable, &signals, signals.count)
    }

    func close() {
        writable.withLock { writable in
            _ = Foundation.close(writable)
            writable = -1
        }
        _ = Foundation.close(readable)
    }
}
