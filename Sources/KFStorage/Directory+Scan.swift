// Looking at all files of a directory, fast. Knows nothing of entries and what they mean.

import CKFLinux
import Glibc

extension Directory {
    /// What tells whether names were added to a directory or taken out: its modification time, to the nanosecond.
    struct Stamp: Equatable, Sendable {
        private let seconds: Int
        private let nanoseconds: Int

        init(_ status: stat) {
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }

    /// Calls `body` with every visible regular file: its name, and its status; and `hidden` with the names of hidden ones.
    ///
    /// Names that are not UTF-8 are left out: nobody can ask for them. The C library would make do with 32 KB at a
    /// time; more of it saves system calls, and lets the files of one part be looked at in the order in which they lie
    /// on the disk.
    func forEachFile(
        hidden: (_ name: UnsafeBufferPointer<UInt8>) -> Void = { _ in },
        _ body: (_ name: UnsafeBufferPointer<UInt8>, _ status: borrowing stat) -> Void
    ) throws(StorageError) {
        BlockingGuard.check()
        let listing = openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard listing >= 0 else { throw StorageError(.list, path, errno) }
        let descriptor = Descriptor(listing)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.partSize, alignment: 8)
        defer { buffer.deallocate() }
        var status = stat()
        while true {
            let filled = kf_read_directory(descriptor.number, buffer.baseAddress, buffer.count)
            guard filled >= 0 else { throw StorageError(.list, path, errno) }
            guard filled > 0 else { return }
            for name in Self.files(in: UnsafeRawBufferPointer(rebasing: buffer[..<filled]), hidden) {
                let start = UnsafeRawPointer(name.baseAddress)?.assumingMemoryBound(to: CChar.self)
                guard let start else { continue }
                guard fstatat(number, start, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                    // It may have been removed by now.
                    if errno == ENOENT { continue }
                    // What cannot be looked at is there, and all that is found would not be all.
                    guard Self.damages.contains(errno) else { throw StorageError(.list, path, errno) }
                    body(name, .ofDamagedFile)
                    continue
                }
                if status.isRegularFile { body(name, status) }
            }
        }
    }

    private static let partSize = 1 << 20
    /// What tells that a file itself is damaged, and will be tomorrow: that keeps nobody from seeing the others.
    private static let damages = [EUCLEAN, EBADMSG, EIO]

    /// The names in a part of the listing that may be those of files, in the order of their inodes.
    private static func files(
        in part: UnsafeRawBufferPointer,
        _ hidden: (UnsafeBufferPointer<UInt8>) -> Void
    ) -> [UnsafeBufferPointer<UInt8>] {
        // The kernel's `linux_dirent64`: inode, offset, length of the record, kind, name.
        var found: [(inode: UInt64, name: UnsafeBufferPointer<UInt8>)] = []
        var start = 0
        while start < part.count {
            let length = Int(part.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self))
            let kind = Int(part[start + 18])
            if kind == Int(DT_REG) || kind == Int(DT_UNKNOWN) {
                let bytes = UnsafeRawBufferPointer(rebasing: part[(start + 19)..<(start + length)])
                let end = bytes.firstIndex(of: 0) ?? bytes.count
                let name = UnsafeRawBufferPointer(rebasing: bytes[..<end]).bindMemory(to: UInt8.self)
                if name.first == UInt8(ascii: ".") {
                    hidden(name)
                } else if isText(name) {
                    found.append((part.loadUnaligned(fromByteOffset: start, as: UInt64.self), name))
                }
            }
            start += length
        }
        found.sort { $0.inode < $1.inode }
        return found.map(\.name)
    }

    private static func isText(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.allSatisfy { $0 < 0x80 } || String(validating: name, as: UTF8.self) != nil
    }
}

extension stat {
    /// Of a file that is there and has no bytes; nobody wants it to go, for nobody can remove it.
    fileprivate static var ofDamagedFile: stat {
        var status = stat()
        status.st_mode = 0o100_000
        status.st_mtim.tv_sec = .max
        status.st_atim.tv_sec = .max
        return status
    }
}
