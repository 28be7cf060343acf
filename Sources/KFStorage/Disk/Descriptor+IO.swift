// Bytes, times and attributes of an open file. For FileStore.

import CKFLinux
import Foundation
import Glibc
import KFSupport

extension Descriptor {
    /// The status of the file, which an open descriptor always has.
    var status: stat {
        BlockingGuard.check()
        var status = stat()
        fstat(number, &status)
        return status
    }

    /// Reads `count` bytes from the start, fewer if the file ends before; `nil` with `errno` on failure.
    func read(_ count: Int) -> Data? {
        BlockingGuard.check()
        guard count > 0 else { return Data() }
        // Not `Data(count:)`, which would write zeros over memory that is about to be filled.
        guard let buffer = malloc(count) else { return nil }
        var filled = 0
        while filled < count {
            let result = pread(number, buffer + filled, count - filled, filled)
            if result == 0 { break }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else {
                free(buffer)
                return nil
            }
            filled += result
        }
        return Data(bytesNoCopy: buffer, count: filled, deallocator: .free)
    }

    /// Whether this process may write so many bytes into a file; a signal ends the process when it writes more.
    static func mayWrite(_ count: Int) -> Bool {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) != 0 || rlim_t(count) <= limit.rlim_cur
    }

    /// Writes all of `data`; false with `errno` on failure.
    func write(_ data: Data) -> Bool {
        BlockingGuard.check()
        return data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let result = Glibc.write(number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return false }
                rest = rest.dropFirst(result)
            }
            return true
        }
    }

    /// Sets the access and the modification time; false with `errno` on failure.
    func setTimes(access: timespec, modification: timespec) -> Bool {
        BlockingGuard.check()
        return withUnsafeBytes(of: (access, modification)) { times in
            futimens(number, times.assumingMemoryBound(to: timespec.self).baseAddress) == 0
        }
    }

    /// Sets an extended attribute; false with `errno` on failure.
    func setAttribute(_ name: String, to value: [UInt8]) -> Bool {
        BlockingGuard.check()
        return name.withCString { fsetxattr(number, $0, value, value.count, 0) == 0 }
    }

    /// The bytes of an extended attribute; `nil` if there is none, and no bytes if it is longer than `limit`.
    func attribute(_ name: String, limit: Int) -> [UInt8]? {
        BlockingGuard.check()
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let result = name.withCString { fgetxattr(number, $0, buffer.baseAddress, limit) }
            if result < 0 { code = errno }
            count = max(0, result)
        }
        return code == 0 || code == ERANGE ? bytes : nil
    }
}
