// A page of memory shared by all processes that use one directory. Knows nothing of entries.

import CKFLinux
import Glibc
import KFSupport

/// What the processes that use a directory tell one another: how often it was changed, and what has happened in it.
///
/// A file of one page, beside the directory, that all of them have mapped. Numbers are added to atomically, so nobody
/// waits and a process that dies leaves nothing half done. Its room is allocated when it is made: a full disk cannot
/// take it away from those who have it mapped. It is never shortened; one that makes no sense is replaced by another
/// file, and whoever has the old one mapped finds out by ``isAt(_:)``.
///
/// Only on file systems whose files are the same memory for all processes, which those of a network are not, and that
/// never refuse a change of what is there.
final class Ledger: Sendable {
    static let fileName = "ledger"
    /// What it is called before it is whole: not like temporaries, which others may take for leftovers.
    private static let newFileName = "ledger.new"
    static let size = 4096
    private static let magic: UInt64 = 0x4b46_4c65_6467_6572
    private static let version: UInt64 = 1
    // The first three places keep their meaning in all versions, so that an older program can tell a newer one of its
    // changes. They lie apart: what is written often shall not share a cache line with what is read often.
    private static let versionOffset = 8
    private static let generationOffset = 64
    private static let addedOffset = 128
    private static let takenOffset = 136
    private static let baseOffset = 144
    private static let baseStateOffset = 152
    private static let deathsOffset = 160
    private static let askedOffset = 168
    private static let joinedOffset = 176
    private static let baseDirectoryOffset = 184
    private static let countsOffset = 256
    private static let seatsOffset = 2048

    // SAFETY: points to a mapping of `size` bytes that lives as long as the object; after `init` it is only read and
    // written by atomic operations.
    private nonisolated(unsafe) let memory: UnsafeMutableRawPointer
    /// Which file it is.
    let identity: FileIdentity
    private let path: String
    let file: Int32
    /// Where changes that are being made here are announced.
    let seat: LedgerSeat
    /// Which directory we have it for: another one may have come to lie at the path.
    private let directory: UInt64
    private let isOurVersion: Bool
    /// Which of all who have ever taken up the ledger we are, and whether there was nobody else then.
    private let number: UInt64
    private let wasAlone: Bool

    /// Takes over the mapping of `file`, and a number for it that is ours to close.
    private init(
        _ memory: UnsafeMutableRawPointer,
        of file: Int32,
        at seat: LedgerSeat,
        in folder: Directory,
        beside directory: Directory?,
        _ identity: FileIdentity
    ) {
        self.memory = memory
        self.file = file
        self.seat = seat
        self.directory = UInt64(directory?.identity.inode ?? 0)
        self.identity = identity
        isOurVersion = kf_shared_load(memory + Self.versionOffset) == Self.version
        // In this order: of two who come at the same time, one at least hears of the other.
        number = kf_shared_add(memory + Self.joinedOffset, 1) &+ 1
        wasAlone = seat.isOnlyOneTaken(of: file)
        path = folder.path(of: Self.fileName)
    }

    deinit {
        // Not by closing the file: a child that is just being started has a copy of it for a moment.
        seat.leave(file)
        munmap(memory, Self.size)
        close(file)
    }

    /// Whether nobody but us has the ledger, nor can have had it since we took it up.
    var isOurs: Bool { wasAlone && kf_shared_load(memory + Self.joinedOffset) == number }

    // MARK: Numbers

    /// How often the directory was changed.
    var generation: UInt64 { kf_shared_load(memory + Self.generationOffset) }

    /// Tells all processes that the directory was changed.
    func noteChange() { _ = kf_shared_add(memory + Self.generationOffset, 1) }

    /// How many bytes the changes have added to the entries and taken from them, as far as those who made them could tell.
    var bytes: ByteCounts {
        // In this order: of a change that is being told of, what it adds is heard of first.
        let taken = kf_shared_load(memory + Self.takenOffset)
        let added = kf_shared_load(memory + Self.addedOffset)
        return ByteCounts(added: Int(truncatingIfNeeded: added), taken: Int(truncatingIfNeeded: taken))
    }

    /// Tells all processes how many bytes a change has added and taken.
    func noteBytes(_ amounts: ByteCounts) {
        guard isOurVersion else { return }
        if amounts.added != 0 { _ = kf_shared_add(memory + Self.addedOffset, UInt64(bitPattern: Int64(amounts.added))) }
        if amounts.taken != 0 { _ = kf_shared_add(memory + Self.takenOffset, UInt64(bitPattern: Int64(amounts.taken))) }
    }

    /// How many bytes all entries have together; `nil` as long as nobody has seen all of them at a moment when nothing was
    /// changed, and again after ``deaths``, and if it was another directory in which he saw them.
    ///
    /// Exact for everybody, as everybody tells exactly what he changes: unlike what one finds who looks while others do.
    var total: Int? {
        let state = kf_shared_load(memory + Self.baseStateOffset)
        guard isOurVersion, state == deaths &+ 1, kf_shared_load(memory + Self.baseDirectoryOffset) == directory else {
            return nil
        }
        return Int(truncatingIfNeeded: kf_shared_load(memory + Self.baseOffset)) &+ bytes.balance
    }

    /// How often somebody has died over a change, or could not tell exactly what it has added and taken.
    var deaths: UInt64 { kf_shared_load(memory + Self.deathsOffset) }

    /// Notes that somebody has.
    func noteDeath() { if isOurVersion { _ = kf_shared_add(memory + Self.deathsOffset, 1) } }

    /// How often somebody with a limit was about to make room, himself or by leaving it to who is at it.
    var asked: UInt64 { kf_shared_load(memory + Self.askedOffset) }

    /// Notes that somebody is.
    func noteAsking() { if isOurVersion { _ = kf_shared_add(memory + Self.askedOffset, 1) } }

    /// Tells all processes how many bytes all entries had together when ``bytes`` were as given, and ``deaths``.
    func noteTotal(_ total: Int, when bytes: ByteCounts, deaths: UInt64) {
        guard isOurVersion else { return }
        kf_shared_store(memory + Self.baseOffset, UInt64(bitPattern: Int64(total &- bytes.balance)))
        kf_shared_store(memory + Self.baseDirectoryOffset, directory)
        kf_shared_store(memory + Self.baseStateOffset, deaths &+ 1)
    }

    /// A number for every seat: how many changes are being made from it.
    var seatsMemory: UnsafeMutableRawPointer { memory + Self.seatsOffset }

    /// One of the numbers that count what has happened since the ledger was made.
    func count(_ index: Int) -> Int {
        isOurVersion ? Int(truncatingIfNeeded: kf_shared_load(memory + Self.countsOffset + index * 8)) : 0
    }

    /// Adds to one of the numbers.
    func add(_ amount: Int, to index: Int) {
        guard isOurVersion, amount != 0 else { return }
        _ = kf_shared_add(memory + Self.countsOffset + index * 8, UInt64(bitPattern: Int64(amount)))
    }

    /// Runs `body` unless another process, or another store of this one, is running something here already.
    ///
    /// - Parameters:
    ///   - isPatient: Whether to wait for the other, though not for long: it may have been stopped.
    ///   - body: What is run.
    /// - Returns: Whether it ran.
    /// - Throws: What `body` throws.
    func exclusively<E: Error>(patiently isPatient: Bool = false, _ body: () throws(E) -> Void) throws(E) -> Bool {
        BlockingGuard.check()
        for pause: useconds_t in isPatient ? Self.pauses : [0] {
            if flock(file, LOCK_EX | LOCK_NB) == 0 {
                defer { flock(file, LOCK_UN) }
                try body()
                return true
            }
            if pause > 0 { usleep(pause) }
        }
        return false
    }

    /// How long to wait for others between tries, in microseconds.
    private static let pauses: [useconds_t] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 0]

    // MARK: The file

    /// Whether the ledger at `path` is this one; also true if one may not look there.
    func isAt(_ path: String) -> Bool {
        BlockingGuard.check()
        var status = stat()
        guard lstat(path, &status) != 0 else { return FileIdentity(status) == identity }
        return errno != ENOENT && errno != ENOTDIR
    }

    /// Whether it still is where it was found, and makes sense: who opens it now would take up this one, and no other.
    var isAtItsPath: Bool { Self.isSensible(memory) && isAt(path) }

    private static func isSensible(_ memory: UnsafeMutableRawPointer) -> Bool {
        kf_shared_load(memory) == magic && kf_shared_load(memory + versionOffset) >= version
    }

    /// What came of looking for a ledger.
    enum Finding: Sendable {
        case found(Ledger)
        /// There is none.
        case absent
        /// There is something in its place that makes no sense.
        case senseless
        /// Something was in the way that may not be there for long.
        case failed
        /// There can never be one.
        case impossible

        /// The ledger, if there is one.
        var ledger: Ledger? {
            if case .found(let ledger) = self { return ledger }
            return nil
        }
    }

    /// The ledger in `folder`, made if there is none; `nil` if there is none for now.
    static func of(_ folder: Directory, beside directory: Directory? = nil, making: Bool = true) -> Ledger? {
        find(folder, beside: directory, making: making).ledger
    }

    /// The ledger in `folder`, made if there is none.
    ///
    /// There can be none if somebody might change `directory` who could not say so here. One that is there is replaced
    /// only if it makes no sense, not because it could not be opened just now: others may have it mapped.
    static func find(_ folder: Directory, beside directory: Directory? = nil, making: Bool = true) -> Finding {
        BlockingGuard.check()
        guard kf_file_system(folder.number).isFitForLedgers else { return .impossible }
        guard directory.map(folder.isOpenToAllWhoMayChange) ?? true else { return .failed }
        let first = open(in: folder, beside: directory)
        guard making, first.isReplaceable else { return first }
        // One process at a time; who comes second finds what the first has made.
        let number = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { return .failed }
        let turn = Descriptor(number)
        for pause in pauses {
            if flock(turn.number, LOCK_EX | LOCK_NB) == 0 {
                // Not by closing alone: a child that is being started holds a copy.
                defer { flock(turn.number, LOCK_UN) }
                let second = open(in: folder, beside: directory)
                return second.isReplaceable ? make(in: folder, beside: directory) : second
            }
            // Anybody who may open the folder may hold its lock for as long as he likes: nobody waits for that.
            guard pause > 0, errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(pause)
        }
        return open(in: folder, beside: directory).ledger.map { .found($0) } ?? .failed
    }

    private static func open(in folder: Directory, beside directory: Directory?) -> Finding {
        let number = openat(folder.number, fileName, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else {
            switch errno {
            case ENOENT: return .absent
            // A link, a socket.
            case ELOOP, ENXIO: return .senseless
            default: return .failed
            }
        }
        return map(Descriptor(number), in: folder, beside: directory)
    }

    private static func map(
        _ file: consuming Descriptor,
        in folder: Directory,
        beside directory: Directory?
    ) -> Finding {
        let status = file.status
        guard status.isRegularFile, status.st_size == size else { return .senseless }
        let mapping = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0)
        guard let memory = mapping, memory != MAP_FAILED else { return .failed }
        let isSensible = isSensible(memory)
        // Not `dup`: what is started from here shall not inherit it, and a lock with it.
        let copy = isSensible ? fcntl(file.number, F_DUPFD_CLOEXEC, 0) : -1
        guard copy >= 0, let seat = LedgerSeat.taken(of: copy) else {
            munmap(memory, size)
            if copy >= 0 { close(copy) }
            return isSensible ? .failed : .senseless
        }
        // Where that is allowed: then a read never waits for the disk.
        mlock(memory, size)
        let identity = FileIdentity(status)
        let ledger = Ledger(memory, of: copy, at: seat, in: folder, beside: directory, identity)
        ledger.buryPredecessor()
        return .found(ledger)
    }

    /// Makes a ledger, or puts one in the place of what makes no sense; the folder must be locked.
    private static func make(in folder: Directory, beside directory: Directory?) -> Finding {
        guard Descriptor.mayWrite(size) else { return .failed }
        // Whoever died over it has left it; nobody else can be at it now.
        unlinkat(folder.number, newFileName, 0)
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let number = openat(folder.number, newFileName, flags, 0o600)
        guard number >= 0 else { return .failed }
        let file = Descriptor(number)
        // Whoever may change the folder must be able to say so here.
        fchmod(file.number, folder.mode & 0o666)
        var header = [magic, version]
        guard posix_fallocate(file.number, 0, off_t(size)) == 0, pwrite(file.number, &header, 16, 0) == 16,
            renameat(folder.number, newFileName, folder.number, fileName) == 0
        else {
            unlinkat(folder.number, newFileName, 0)
            return .failed
        }
        return open(in: folder, beside: directory)
    }
}

extension Ledger.Finding {
    /// Whether a new ledger may take the place of what was found.
    fileprivate var isReplaceable: Bool {
        switch self {
        case .absent, .senseless: true
        case .found, .failed, .impossible: false
        }
    }
}

extension UInt64 {
    /// Whether this is a kind of file system for ledgers.
    ///
    /// It shares mapped files among all processes: those of the disks of this machine do, and those in its memory. And
    /// it keeps what was allocated: where every change needs new room, as with Btrfs, bcachefs and ZFS, a full disk
    /// would end the process that writes to mapped memory.
    var isFitForLedgers: Bool {
        // ext2 to ext4, XFS, F2FS, tmpfs, overlayfs
        [0xEF53, 0x5846_5342, 0xF2F5_2010, 0x0102_1994, 0x794C_7630].contains(self)
    }
}
