// A process that stores and removes as fast as it can until it is told to end. Knows nothing of the others that do the same.

import Foundation
import Kingfisher
import Synchronization

/// Three threads at one disk storage, which end what they are at before the process ends.
final class Writer: Sendable {
    private static let threadCount = 3

    private let storage: DiskStorage.Backend<Data>
    private let mayGoOn = Atomic(true)

    /// Opens the cache in `directory`, where other processes may be at work.
    init(directory: URL) throws {
        storage = try DiskStorage.Backend(config: Tormentor.config(directory: directory))
    }

    /// Starts the threads, says so, and ends the process when its standard input has ended and the threads have.
    func run(child: Int, seed: UInt64) -> Never {
        let hasEnded = DispatchSemaphore(value: 0)
        for thread in 0..<Self.threadCount {
            let worker = Thread { [self] in
                var random = Xorshift(seed: seed &* 37 &+ UInt64(child * Self.threadCount + thread) &+ 1)
                while mayGoOn.load(ordering: .relaxed) { change(&random) }
                hasEnded.signal()
            }
            worker.start()
        }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = FileHandle.standardInput.availableData
        mayGoOn.store(false, ordering: .relaxed)
        for _ in 0..<Self.threadCount { hasEnded.wait() }
        // What is left to the background would end with the process; a cache waits for it when the process ends by itself.
        while storage.isSettling { usleep(1_000) }
        exit(Soak.Ending.good.rawValue)
    }

    /// Stores something under one of the keys that all processes share, or now and then removes it.
    private func change(_ random: inout Xorshift) {
        let keys = Tormentor.allKeys
        let key = keys[Int(random.next(below: UInt64(keys.count)))]
        let payload = Payload(key: key, version: 1, length: Int(random.next(below: 60_000)))
        do {
            if random.next(below: 10) == 0 {
                try storage.remove(forKey: key)
            } else {
                try storage.store(value: payload.bytes, forKey: key)
            }
        } catch {
            Soak.end(.failed, "an operation on \(key) failed: \(error)")
        }
    }
}
