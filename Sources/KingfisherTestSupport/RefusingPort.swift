// A port of loopback that refuses every connection.

public import Foundation
internal import Glibc

/// A port of 127.0.0.1 on which no server listens or can start to listen while this object exists.
///
/// The port of a server that was stopped is no substitute: a test that runs at the same time may get it for its server.
public final class RefusingPort: Sendable {
    /// The number of the port.
    public let number: Int
    private let socket: Int32

    /// Takes a free port and does not listen on it.
    ///
    /// - Throws: An error of the system when no port is free.
    public init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && getsockname(socket, address, &length) == 0
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else {
            let code = errno
            close(socket)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
    }

    deinit { close(socket) }

    /// The URL of a path there, which starts with a slash.
    public func url(_ path: String) -> URL {
        URL(string: "http://127.0.0.1:\(number)\(path)") ?? URL(fileURLWithPath: path)
    }
}
