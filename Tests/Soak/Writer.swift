// A process that stores and removes as fast as it can until its input is closed.

import Foundation
import Kingfisher
import Synchronization

/// Three threads that use one disk storage, and finish their operations before the process ends.
final class Writer: Sendable {
    private static let threadCount = 3

    private let storage: DiskStorage.Backend<Data>
    private let isRunning = Atomic(true)

    /// Opens the cache in `directory`, which other processes may use too.
    init(directory: URL) throws {
        storage = try DiskStorage.Backend(config: Worker.config(directory: directory))
    }

    /// Starts the threads, prints that it has, and ends the process when its standard input and the threads have ended.
    func run(child: Int, seed: UInt64) -> Never {
        let hasEnded = DispatchSemaphore(value: 0)
        for thread in 0..<Self.threadCount {
            let worker = Thread { [self] in
                var random = Xorshift(seed: seed &* 37 &+ UInt64(child * Self.threadCount + thread) &+ 1)
                while isRunning.load(ordering: .relaxed) { change(&random) }
                hasEnded.signal()
            }
            worker.start()
        }
        FileHandle.standardOutput.write(Data("ready\n".utf8))
        _ = FileHandle.standardInput.availableData
        isRunning.store(false, ordering: .relaxed)
        for _ in 0..<Self.threadCount { hasEnded.wait() }
        // Background work would end with the process; a cache waits for it when the process ends normally.
        Worker.waitUntilIdle(storage)
        exit(Soak.Ending.good.rawValue)
    }

    /// Stores something under one of the keys that all processes share, or sometimes removes it.
    private func change(_ random: inout Xorshift) {
        let keys = Worker.allKeys
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
