// Bytes, times and attributes of an open file. Knows nothing of names.

import CKFLinux
import Foundation
import Glibc
import Synchronization

extension Descriptor {
    /// The status of the file.
    ///
    /// It cannot fail for an open descriptor.
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
            let result = Glibc.read(number, buffer + filled, count - filled)
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

    /// Whether this process may write so many bytes into a file.
    ///
    /// The system does not only refuse more, but sends a signal that ends the process. It is asked whenever it is about
    /// many bytes. That it allows the few that others are is asked once a second: for them, asking is a time to be noticed.
    static func mayWrite(_ count: Int) -> Bool {
        guard count <= fewBytes else { return count <= longestFile }
        let now = kf_coarse_milliseconds()
        let allowedAt = fewBytesAllowedAt.load(ordering: .relaxed)
        if now - allowedAt < 1_000 { return true }
        let limit = longestFile
        if limit >= fewBytes { fewBytesAllowedAt.store(now, ordering: .relaxed) }
        return count <= limit
    }

    private static let fewBytes = 1 << 18
    private static let fewBytesAllowedAt = Atomic(Int64.min / 2)

    private static var longestFile: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { return .max }
        return Int(clamping: limit.rlim_cur)
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
        // Not handed over as it is: that would copy the name to the heap.
        return name.withCString { fsetxattr(number, $0, value, value.count, 0) == 0 }
    }

    /// Hands the first `limit` bytes of an extended attribute to `body`, or none if there is no such attribute, or if
    /// it is longer.
    func withAttribute<Result>(
        _ name: String,
        limit: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        BlockingGuard.check()
        return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 8) { buffer in
            let count = name.withCString { fgetxattr(number, $0, buffer.baseAddress, limit) }
            return body(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, count)]))
        }
    }
}
