// Sockets on loopback for the servers of the benchmarks.

import Foundation
import Glibc

/// A socket that is closed with the last reference.
final class Socket: Sendable {
    let descriptor: Int32

    init(owning descriptor: Int32) throws {
        try BenchmarkError.unless(descriptor >= 0, "there is no socket: \(String(cString: strerror(errno)))")
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Listens on a free port of 127.0.0.1.
    static func listening() throws -> Socket {
        let socket = try Socket(owning: tcp())
        let isBound = withAddress(port: 0) { bind(socket.descriptor, $0, $1) == 0 }
        try BenchmarkError.unless(isBound && listen(socket.descriptor, 1024) == 0, "no port is free")
        return socket
    }

    /// Connects to a port of 127.0.0.1.
    static func connected(to port: Int) throws -> Socket {
        let socket = try Socket(owning: tcp())
        let isConnected = withAddress(port: port) { connect(socket.descriptor, $0, $1) == 0 }
        try BenchmarkError.unless(isConnected, "nothing listens on port \(port)")
        return socket
    }

    /// A port of 127.0.0.1 that was free a moment ago.
    static func freePort() throws -> Int { try listening().port }

    /// The port of this end.
    var port: Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    /// The next connection of a listening socket.
    func accepted(within seconds: Int) throws -> Socket {
        try waitForInput(seconds)
        return try Socket(owning: accept(descriptor, nil, nil))
    }

    /// Sends all bytes.
    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            try BenchmarkError.unless(count > 0, "the other end has closed the connection")
            sent += count
        }
    }

    /// The bytes that have arrived, at least one; none when the other end has closed the connection.
    func receive(within seconds: Int) throws -> [UInt8] {
        try waitForInput(seconds)
        return [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
    }

    private func waitForInput(_ seconds: Int) throws {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try BenchmarkError.unless(poll(&entry, 1, Int32(seconds * 1000)) == 1, "nothing came for \(seconds) seconds")
    }

    private static func tcp() -> Int32 { socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0) }

    private static func withAddress<Result>(
        port: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
