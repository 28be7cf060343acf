// A client that sends and receives the bytes of a connection as they are, without HTTP.

import Foundation
import Glibc
import KFSupport
import KingfisherTestSupport

/// A connection to a test server; blocking calls run on a thread of its own.
final class RawClient: Sendable {
    /// The ways a connection can end.
    enum End { case closed, reset }

    private let descriptor: Int32
    private let isOpen = Locked(true)
    private let thread = WorkExecutor("kf.raw", threads: 1)

    /// Connects to a port of the loopback address.
    init(_ server: TestServer) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(server.port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close() }

    /// Sends one GET on a connection of its own; returns the bytes of the server and the end of the connection.
    static func get(_ path: String, from server: TestServer) async throws -> (text: String, end: End) {
        let client = try RawClient(server)
        client.get(path)
        return await client.rest()
    }

    /// Sends a GET without header fields.
    func get(_ path: String) { send("GET \(path) HTTP/1.1\r\n\r\n") }

    /// Sends bytes, which must be few enough for the system to take them at once.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads until the received text ends with a suffix, or the connection ends.
    func read(until marker: String) async -> String {
        await thread.run { [descriptor] in
            var bytes: [UInt8] = []
            var byte: UInt8 = 0
            while !bytes.reversed().starts(with: marker.utf8.reversed()), recv(descriptor, &byte, 1, 0) == 1 {
                bytes.append(byte)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Reads that many bytes, or fewer if the connection ends.
    func read(_ count: Int) async -> Int {
        await thread.run { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var read = 0
            while read < count {
                let more = recv(descriptor, &buffer, min(buffer.count, count - read), 0)
                guard more > 0 else { break }
                read += more
            }
            return read
        }
    }

    /// Reads until the connection ends.
    func rest() async -> (text: String, end: End) {
        await thread.run { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var bytes: [UInt8] = []
            while true {
                let more = recv(descriptor, &buffer, buffer.count, 0)
                guard more > 0 else {
                    return (String(decoding: bytes, as: UTF8.self), more == 0 ? End.closed : .reset)
                }
                bytes += buffer[..<more]
            }
        }
    }

    /// Closes the connection; nothing can be read afterwards.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { _ = Glibc.close(descriptor) }
    }
}
