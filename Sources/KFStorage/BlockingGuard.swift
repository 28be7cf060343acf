// Records, in debug builds, system calls on threads that must not wait for the file system. For tests.

import Glibc
import KFSupport

/// Records the system calls of threads under ``violations(during:)``; costs nothing in release builds.
///
/// Every function here that makes a system call begins with ``check(_:)``.
package enum BlockingGuard {
    /// Records that the calling function, named `operation`, is about to make a system call on this thread.
    @inline(__always)
    package static func check(_ operation: StaticString = #function) {
        #if DEBUG
        record(operation)
        #endif
    }

    #if DEBUG
    private static let state = Locked<(lastMark: Int, found: [Int: [String]])>((0, [:]))

    /// Where each thread keeps the number of the mark it is under; none if it may wait.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    private static func record(_ operation: StaticString) {
        guard let mark = pthread_getspecific(key) else { return }
        state.withLock { $0.found[Int(bitPattern: mark), default: []].append("\(operation)") }
    }

    /// Marks this thread while `body` runs, and returns the names of the functions that went to the file system on it.
    ///
    /// Work that `body` starts elsewhere is not watched. Marks nest; the inner one records.
    package static func violations(during body: () throws -> Void) rethrows -> [String] {
        let outer = pthread_getspecific(key)
        let mark = state.withLock { state in
            state.lastMark += 1
            return state.lastMark
        }
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: mark))
        defer { pthread_setspecific(key, outer) }
        try body()
        return state.withLock { $0.found.removeValue(forKey: mark) } ?? []
    }
    #endif
}
