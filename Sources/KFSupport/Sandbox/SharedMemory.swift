// Memory without a name that two processes map. For images on their way to a decoder, and back.

import CKFLinux
import Foundation

/// Memory of a fixed size, as a file without a name that another process can be given.
///
/// Nobody can change its size, so that reading it never ends a process. Pages take memory once they have been written.
package final class SharedMemory: Sendable {
    /// Its file, which is sent to the other process.
    package let file: OwnedDescriptor
    /// How many bytes there are.
    package let count: Int
    // SAFETY: the mapping lives as long as this object. In a process one thread at a time uses it: `DecoderProcess` has
    // it in a lock, a decoder has one thread. What the other process writes meanwhile is only copied, see `read`.
    private nonisolated(unsafe) let mapping: UnsafeMutableRawPointer

    /// Makes memory of zeros that this process writes and others can only read.
    ///
    /// - Parameter count: How many bytes; at least 1.
    /// - Throws: ``SystemError``.
    package init(toWrite count: Int) throws(SystemError) {
        let file = try Self.made(count)
        mapping = try Self.map(file, count, PROT_READ | PROT_WRITE)
        // A kernel that is too old to seal it lets others overwrite what only they will read again.
        _ = kf_let_others_read(file.number)
        (self.file, self.count) = (file, count)
    }

    /// Makes memory that others write, and this process reads with ``read(at:into:)``.
    ///
    /// - Parameter count: How many bytes; at least 1.
    /// - Throws: ``SystemError``.
    package init(toRead count: Int) throws(SystemError) {
        let file = try Self.made(count)
        mapping = try Self.map(file, count, PROT_READ)
        (self.file, self.count) = (file, count)
    }

    /// Maps memory that another process has made.
    ///
    /// - Parameters:
    ///   - file: Its file.
    ///   - isWritten: Whether this process writes into it.
    /// - Throws: ``SystemError``.
    package init(of file: OwnedDescriptor, isWritten: Bool) throws(SystemError) {
        let size = lseek(file.number, 0, SEEK_END)
        guard size > 0 else { throw SystemError("measuring shared memory") }
        mapping = try Self.map(file, size, isWritten ? PROT_READ | PROT_WRITE : PROT_READ)
        (self.file, count) = (file, size)
    }

    deinit { munmap(mapping, count) }

    /// All of its bytes, valid as long as this object exists.
    ///
    /// Those that another process writes are not looked at in place: they are copied with ``read(at:into:)``.
    package var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: mapping, count: count) }

    /// Copies bytes out of it.
    ///
    /// - Parameters:
    ///   - offset: Where they begin.
    ///   - target: Where they go; as many as there is room for.
    /// - Returns: Whether there are so many.
    package func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) -> Bool {
        guard let part = part(at: offset, count: target.count) else { return false }
        target.copyMemory(from: part)
        return true
    }

    /// Some of its bytes, for a copy that does more than ``read(at:into:)``.
    ///
    /// - Parameters:
    ///   - offset: Where they begin.
    ///   - count: How many.
    /// - Returns: The bytes, which others may go on changing; nil when there are fewer.
    package func part(at offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, offset <= self.count, count <= self.count - offset else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// Lets memory that is about to be filled have large pages, which take the kernel a fraction of the time.
    package static func preferLargePages(_ memory: UnsafeMutableRawBufferPointer) {
        kf_prefer_large_pages(memory.baseAddress, memory.count)
    }

    private static func made(_ count: Int) throws(SystemError) -> OwnedDescriptor {
        let file = kf_make_memory(max(1, count))
        guard file >= 0 else { throw SystemError("making shared memory") }
        return OwnedDescriptor(file)
    }

    private static func map(
        _ file: OwnedDescriptor,
        _ count: Int,
        _ protection: Int32
    ) throws(SystemError) -> UnsafeMutableRawPointer {
        guard let mapping = mmap(nil, count, protection, MAP_SHARED, file.number, 0), mapping != MAP_FAILED else {
            throw SystemError("mapping shared memory")
        }
        return mapping
    }
}

/// A system call that failed.
package struct SystemError: Error, CustomStringConvertible {
    /// The error number.
    package let number: Int32
    private let action: String

    /// The failure of the last call on this thread, made for an action: "making shared memory".
    package init(_ action: String, _ number: Int32 = errno) { (self.action, self.number) = (action, number) }

    package var description: String { "\(action) failed: \(String(cString: strerror(number)))" }
}
