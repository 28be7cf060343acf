// A server that says what a test wants it to, whatever Redis would say. For tests of RedisTier.

import Foundation
import Glibc
import KFSupport

/// A server on a free port of loopback.
///
/// It runs one closure for each connection, on a thread of its own.
final class FakeRedis: Sendable {
    let port: Int
    private let listener: Int32
    private let connections = Counter()

    /// How many connections there have been.
    var connectionCount: Int { connections.value.withLock { $0 } }
    var url: String { "redis://127.0.0.1:\(port)" }

    init(_ serve: @escaping @Sendable (FakeClient) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 100) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRINUSE) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        let (connections, port) = (connections, port)
        Thread.detachNewThread {
            while case let client = accept(listener, nil, nil), client >= 0 {
                let number = connections.value.withLock { count in
                    count += 1
                    return count
                }
                Thread.detachNewThread {
                    serve(FakeClient(client, port: port, number: number))
                    _ = close(client)
                }
            }
            _ = close(listener)
        }
    }

    private final class Counter: Sendable { let value = Locked(0) }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }
}

/// One connection of a fake server; for its thread.
final class FakeClient {
    /// The server's port.
    let port: Int
    /// 1 for the server's first connection.
    let number: Int
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ descriptor: Int32, port: Int, number: Int) {
        (self.descriptor, self.port, self.number) = (descriptor, port, number)
    }

    /// Sends bytes; false if the client is gone.
    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    /// The next command's words; nil if the client is gone.
    func command() -> [String]? {
        guard let count = line().flatMap({ Int($0.dropFirst()) }) else { return nil }
        var words: [String] = []
        for _ in 0..<count {
            guard let length = line().flatMap({ Int($0.dropFirst()) }), let bytes = bytes(length + 2) else {
                return nil
            }
            words.append(String(decoding: bytes.dropLast(2), as: UTF8.self))
        }
        return words
    }

    /// The next command but PING, which is answered.
    func commandAfterPing() -> [String]? {
        while let words = command() {
            guard words == ["PING"] else { return words }
            send("+PONG\r\n")
        }
        return nil
    }

    /// Waits until the client is gone.
    func waitForEnd() { while command() != nil {} }

    private func line() -> String? {
        while true {
            if let end = received.firstIndex(of: 10) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end].dropLast(), as: UTF8.self)
            }
            guard receive() else { return nil }
        }
    }

    private func bytes(_ count: Int) -> [UInt8]? {
        while received.count < count { guard receive() else { return nil } }
        defer { received.removeFirst(count) }
        return Array(received.prefix(count))
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }
}
