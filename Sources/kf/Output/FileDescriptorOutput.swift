// Complete writes to file descriptors, for the console, output files and the terminal.

import Foundation

/// Writes bytes to file descriptors.
enum FileDescriptorOutput {
    /// Writes everything; false, with `errno`, when the reader has closed it.
    @discardableResult
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if count > 0 {
                done += count
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Writes everything; false, with `errno`, when the reader has closed it.
    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { write($0, to: descriptor) }
    }
}
