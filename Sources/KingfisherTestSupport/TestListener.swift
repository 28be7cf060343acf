// The listening socket of the test server.

internal import CKFLinux
internal import Foundation
internal import Glibc

/// A socket that listens on a free port of 127.0.0.1.
///
/// The owner makes sure that it is not used once closed.
final class TestListener: Sendable {
    /// The number of the port.
    let port: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 1_024) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else {
            let code = errno
            _ = Foundation.close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
        }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits for the next connection; nil once shut down.
    func accept() -> Int32? {
        while true {
            let connection = kf_accept(descriptor)
            if connection >= 0 { return connection }
            switch errno {
            case EINTR, ECONNABORTED: continue
            // Other code may close descriptors; until then the client waits.
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: poll(nil, 0, 10)
            default: return nil
            }
        }
    }

    /// Ends the current and all later calls of ``accept()``.
    func shutDown() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    func close() { _ = Foundation.close(descriptor) }
}
