// A process that stores, reads, removes and trims as fast as it can, until it is killed.

import Foundation
import Kingfisher

/// Four threads that use one disk storage.
///
/// A thread that finds an error prints it, and ends the process with a status that is not 0.
final class Worker: Sendable {
    static let threadCount = 4
    static let keyCount = 120
    static let sizeLimit: UInt = 2 << 20

    private let storage: DiskStorage.Backend<Data>
    private let seed: UInt64

    /// Opens the cache in `directory`, which other processes may use too; `seed` determines the sequence of operations,
    /// and the versions written are newer than those of smaller seeds.
    init(directory: URL, seed: UInt64) throws {
        storage = try DiskStorage.Backend(config: Self.config(directory: directory))
        self.seed = seed
    }

    /// The cache all processes of a run share.
    static func config(directory: URL) -> DiskStorage.Config {
        DiskStorage.Config(name: "soak", sizeLimit: sizeLimit, directory: directory)
    }

    /// Waits until a storage has finished its work in the background.
    static func waitUntilIdle(_ storage: DiskStorage.Backend<Data>) {
        let isIdle = DispatchSemaphore(value: 0)
        Task {
            await storage.waitUntilIdle()
            isIdle.signal()
        }
        isIdle.wait()
    }

    /// Every key that any process stores under.
    static var allKeys: [String] { (0..<2).flatMap { child in (0..<keyCount).map { key(child: child, $0) } } }

    private static func key(child: Int, _ number: Int) -> String {
        "https://example.com/\(child)/picture-\(number).jpg?width=320"
    }

    /// Starts the threads, prints that it has, and never returns.
    func run(child: Int) -> Never {
        for thread in 0..<Self.threadCount {
            let worker = Thread { [self] in work(child: child, thread: thread) }
            worker.start()
        }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        while true { pause() }
    }

    /// A thread is the only one to store under a quarter of its process's keys: it knows which version must be stored.
    private func work(child: Int, thread: Int) -> Never {
        var random = Xorshift(seed: seed &* 31 &+ UInt64(thread) &+ 1)
        var latest: [String: UInt64] = [:]
        var version = seed << 32
        while true {
            version += 1
            let number = Int(random.next(below: UInt64(Self.keyCount / Self.threadCount)))
            let mine = Self.key(child: child, number * Self.threadCount + thread)
            do {
                switch random.next(below: 1000) {
                case 0..<450:
                    try store(mine, version, &random)
                    latest[mine] = version
                case 450..<700: try check(mine, notBefore: latest[mine] ?? 0)
                case 700..<850:
                    try check(Self.key(child: 1 - child, Int(random.next(below: UInt64(Self.keyCount)))), notBefore: 0)
                case 850..<930: try storage.remove(forKey: mine)
                case 930..<960: _ = storage.isCached(forKey: mine)
                case 960..<980: _ = try storage.removeExpiredValues()
                case 980..<985: _ = try storage.removeSizeExceededValues()
                case 985..<999: _ = try storage.totalSize()
                default: try storage.removeAll()
                }
            } catch {
                Soak.end(.failed, "an operation on \(mine) failed: \(error)")
            }
        }
    }

    private func store(_ key: String, _ version: UInt64, _ random: inout Xorshift) throws {
        let length = Int(random.next(below: random.next(below: 20) == 0 ? 400_000 : 40_000))
        let expiration: StorageExpiration =
            switch random.next(below: 10) {
            case 0: .seconds(0.02)
            case 1: .never
            default: .days(1)
            }
        try storage.store(
            value: Payload(key: key, version: version, length: length).bytes,
            forKey: key,
            expiration: expiration
        )
    }

    private func check(_ key: String, notBefore version: UInt64) throws {
        guard let data = try storage.value(forKey: key) else { return }
        guard let payload = Payload(data, key: key) else {
            Soak.end(.torn, "\(data.count) bytes that were never stored came back for \(key)")
        }
        guard payload.version >= version else {
            Soak.end(.torn, "version \(payload.version) came back for \(key) after version \(version) was stored")
        }
    }
}

/// A small generator of random numbers, which are the same for the same seed.
struct Xorshift {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(below limit: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return (state >> 11) % limit
    }
}
