// The checks of a cache directory after a process that was using it was killed.

import Foundation
import Kingfisher

/// Opens the cache as the next start of a program would, and checks what must hold.
struct Verifier {
    let directory: URL
    /// The number of entries that were read, so that an empty directory does not pass for a good one.
    private(set) var readCount = 0
    private(set) var damagedCount = 0
    private(set) var leftoverCount = 0
    private(set) var limitCount = 0
    /// A store that stays open through all rounds and detects changes by other processes.
    private let longLived: DiskStorage.Backend<Data>

    private static let longLivedKeys = (0..<30).map { "https://example.com/survivor/\($0).jpg" }
    private static let allKeys = Worker.allKeys + longLivedKeys

    init(directory: URL) throws {
        self.directory = directory
        var config = Worker.config(directory: directory)
        // Nothing may be trimmed in the background while the entries are counted.
        config.sizeLimit = 0
        longLived = try DiskStorage.Backend(config: config)
    }

    /// Stores and reads entries as the other processes do, at the same time.
    func joinIn(_ random: inout Xorshift) throws {
        for number in 0..<20 {
            let key = Self.longLivedKeys[Int(random.next(below: 30))]
            let payload = Payload(key: key, version: UInt64(number), length: Int(random.next(below: 9_000)))
            try longLived.store(value: payload.bytes, forKey: key)
            guard let data = try longLived.value(forKey: key) else { continue }
            if Payload(data, key: key) == nil {
                Soak.end(.torn, "the long-lived store read \(data.count) wrong bytes for \(key)")
            }
        }
    }

    /// Ends the process with an error if a check fails.
    mutating func verify(round: Int, _ random: inout Xorshift) throws {
        let damaged = round.isMultiple(of: 3) ? try damageOne(&random) : nil
        leftoverCount += ageLeftovers()
        var config = Worker.config(directory: directory)
        // Nothing may be trimmed in the background while the entries are counted.
        config.sizeLimit = 0
        let storage = try DiskStorage.Backend<Data>(config: config)
        if let left = leftovers().first { Soak.end(.failed, "the temporary file \(left) was left behind") }
        for key in Self.allKeys {
            let name = storage.cacheFileURL(forKey: key).lastPathComponent
            guard let data = try storage.value(forKey: key, extendingExpiration: .none) else { continue }
            readCount += 1
            guard Payload(data, key: key) != nil else {
                Soak.end(.torn, "after round \(round) \(data.count) bytes that were never stored came back for \(key)")
            }
            if name == damaged { Soak.end(.torn, "the damaged entry \(name) was taken for a good one") }
        }
        if let damaged {
            damagedCount += 1
            if files().contains(where: { $0.name == damaged }) {
                Soak.end(.failed, "the damaged entry \(damaged) was found and not removed")
            }
        }
        try checkForFalseMisses(storage, but: damaged)
        let listed = files().reduce(0) { $0 + $1.size }
        let claimed = Int(try storage.totalSize())
        if listed != claimed {
            Soak.end(.failed, "after round \(round) the files take \(listed) bytes, and a new store says \(claimed)")
        }
        // A process that was killed may have been about to make room.
        if listed > 2 * Int(Worker.sizeLimit) {
            Soak.end(.failed, "after round \(round) the files take \(listed) bytes, of \(Worker.sizeLimit) allowed")
        }
    }

    /// Ends the process with an error if the limit is exceeded after several processes have written and another store
    /// was made.
    mutating func verifyLimit(round: Int) throws {
        let before = files().reduce(0) { $0 + $1.size }
        let storage = try DiskStorage.Backend<Data>(config: Worker.config(directory: directory))
        // Otherwise the scan after the start may make room for the entry before it is written.
        Worker.waitUntilIdle(storage)
        let key = Self.longLivedKeys[0]
        // More than a tenth of the limit: this makes the store scan for what others have written.
        let payload = Payload(key: key, version: 1, length: Int(Worker.sizeLimit) / 8)
        try storage.store(value: payload.bytes, forKey: key)
        let listed = files().reduce(0) { $0 + $1.size }
        if listed > Int(Worker.sizeLimit) {
            let allowed = "of \(Worker.sizeLimit) allowed"
            Soak.end(.failed, "before round \(round) the files take \(listed) bytes after room was made, \(allowed)")
        }
        // A round in which little was written proves nothing.
        if before > Int(Worker.sizeLimit) / 2 { limitCount += 1 }
    }

    /// Entries that exist and have not expired must be found, by a new store and by the long-lived one.
    private func checkForFalseMisses(_ storage: DiskStorage.Backend<Data>, but damaged: String?) throws {
        let present = Set(files().filter { $0.times.1.tv_sec > time(nil) + 60 }.map(\.name))
        for key in Self.allKeys {
            let name = storage.cacheFileURL(forKey: key).lastPathComponent
            guard present.contains(name), name != damaged else { continue }
            for (reader, cache) in [("a new store", storage), ("the long-lived store", longLived)]
            where try !cache.isCached(forKey: key) || cache.value(forKey: key, extendingExpiration: .none) == nil {
                Soak.end(.failed, "\(reader) does not find \(key), which lies there as \(name)")
            }
        }
    }

    // MARK: Temporary files

    /// Unfinished files: they lie beside the directory, or hidden in it.
    private func leftovers() -> [String] {
        let name = URL(fileURLWithPath: folder).lastPathComponent
        let places = [folder, directory.appendingPathComponent(".\(name).tmp").path]
        return places.flatMap { place in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            return names.filter { $0.hasPrefix(".kf-") }.map { place + "/" + $0 }
        }
    }

    /// Makes leftovers of killed processes two hours old, and returns their number: the next start must remove them.
    private func ageLeftovers() -> Int {
        let left = leftovers()
        let past = timespec(tv_sec: time(nil) - 7_200, tv_nsec: 0)
        // Only the access time: the modification time may be an expiry already, and is left out (`UTIME_OMIT`).
        let same = timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2)
        for path in left { utimensat(AT_FDCWD, path, [past, same], AT_SYMLINK_NOFOLLOW) }
        return left.count
    }

    // MARK: Entries

    /// Changes a byte of an entry or truncates it as a failing disk would, and returns the file's name.
    private func damageOne(_ random: inout Xorshift) throws -> String? {
        let all = files().filter { $0.size > 0 && $0.times.1.tv_sec > time(nil) + 60 }.sorted { $0.name < $1.name }
        guard !all.isEmpty else { return nil }
        let chosen = all[Int(random.next(below: UInt64(all.count)))]
        let number = open(folder + "/" + chosen.name, O_RDWR)
        guard number >= 0 else { return nil }
        defer { close(number) }
        let place = Int(random.next(below: UInt64(chosen.size)))
        if random.next(below: 4) == 0 {
            ftruncate(number, place)
        } else {
            var byte: UInt8 = 0
            pread(number, &byte, 1, place)
            byte ^= UInt8(1 << random.next(below: 8))
            pwrite(number, &byte, 1, place)
        }
        futimens(number, [chosen.times.0, chosen.times.1])
        return chosen.name
    }

    private var folder: String { Worker.config(directory: directory).folder(in: directory) }

    /// The entries, as the file system has them: name, bytes, access and modification time.
    private func files() -> [(name: String, size: Int, times: (timespec, timespec))] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { !$0.hasPrefix(".") }.compactMap { name in
            var status = stat()
            guard lstat(folder + "/" + name, &status) == 0 else { return nil }
            return (name, Int(status.st_size), (status.st_atim, status.st_mtim))
        }
    }
}

extension DiskStorage.Config {
    /// The path of the directory that holds the entries, as documented.
    fileprivate func folder(in directory: URL) -> String {
        directory.appendingPathComponent("com.onevcat.Kingfisher.ImageCache.\(name)").path
    }
}
