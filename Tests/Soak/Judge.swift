// What must hold of a cache directory after a process at work in it was killed. Knows nothing of killing.

import Foundation
import Kingfisher

/// Opens the cache as the next start of a program would, and looks for broken promises.
struct Judge {
    let directory: URL
    /// Counts what was looked at, so that nobody takes an empty directory for a good one.
    private(set) var readCount = 0
    private(set) var damagedCount = 0
    private(set) var limitCount = 0
    /// Lives through all rounds, with an account of its own that is told of everything the others do and of nothing they
    /// were killed before they could tell.
    private let survivor: DiskStorage.Backend<Data>

    private static let survivorKeys = (0..<30).map { "https://example.com/survivor/\($0).jpg" }
    private static let allKeys = Tormentor.allKeys + survivorKeys

    init(directory: URL) throws {
        self.directory = directory
        var config = Tormentor.config(directory: directory)
        // Nothing may be trimmed in the background while it is counted.
        config.sizeLimit = 0
        survivor = try DiskStorage.Backend(config: config)
    }

    /// Works in the directory as the others do, while they do.
    func joinIn(_ random: inout Xorshift) throws {
        for number in 0..<20 {
            let key = Self.survivorKeys[Int(random.next(below: 30))]
            let payload = Payload(key: key, version: UInt64(number), length: Int(random.next(below: 9_000)))
            try survivor.store(value: payload.bytes, forKey: key)
            guard let data = try survivor.value(forKey: key) else { continue }
            if Payload(data, key: key) == nil {
                Soak.end(.torn, "the survivor read \(data.count) wrong bytes for \(key)")
            }
        }
    }

    /// Ends the process if something is wrong.
    mutating func judge(round: Int, _ random: inout Xorshift) throws {
        let damaged = round.isMultiple(of: 3) ? try damageOne(&random) : nil
        var config = Tormentor.config(directory: directory)
        // Nothing may be trimmed in the background while it is counted.
        config.sizeLimit = 0
        let storage = try DiskStorage.Backend<Data>(config: config)
        checkLeftovers(storage)
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
        let remembered = Int(try survivor.totalSize())
        if listed != remembered {
            Soak.end(
                .failed,
                "after round \(round) the files take \(listed) bytes, and who was there before says \(remembered)"
            )
        }
        if listed != claimed {
            Soak.end(.failed, "after round \(round) the files take \(listed) bytes and the cache says \(claimed)")
        }
        // Whoever was killed may have been about to make room.
        if listed > 2 * Int(Tormentor.sizeLimit) {
            Soak.end(.failed, "after round \(round) the files take \(listed) bytes, of \(Tormentor.sizeLimit) allowed")
        }
    }

    /// Ends the process if those who have all ended by themselves have left more than allowed.
    mutating func judgeLimit(round: Int) {
        let listed = files().reduce(0) { $0 + $1.size }
        if listed > Int(Tormentor.sizeLimit) {
            let allowed = "of \(Tormentor.sizeLimit) allowed"
            Soak.end(.failed, "before round \(round) all have ended, and the files take \(listed) bytes, \(allowed)")
        }
        // Who has written next to nothing proves nothing.
        if listed > Int(Tormentor.sizeLimit) / 2 { limitCount += 1 }
    }

    /// What lies there and has not expired must be found, by a newcomer and by who was there before.
    private func checkForFalseMisses(_ storage: DiskStorage.Backend<Data>, but damaged: String?) throws {
        let present = Set(files().filter { $0.times.1.tv_sec > time(nil) + 60 }.map(\.name))
        for key in Self.allKeys {
            let name = storage.cacheFileURL(forKey: key).lastPathComponent
            guard present.contains(name), name != damaged else { continue }
            for (who, cache) in [("a newcomer", storage), ("who was there before", survivor)]
            where try !cache.isCached(forKey: key) || cache.value(forKey: key, extendingExpiration: .none) == nil {
                Soak.end(.failed, "\(who) does not find \(key), which lies there as \(name)")
            }
        }
    }

    /// Half-written files lie beside the directory, or hidden in it; none may outlive the next start.
    private func checkLeftovers(_ storage: DiskStorage.Backend<Data>) {
        let directory = storage.directoryURL
        let folder = directory.deletingLastPathComponent().appendingPathComponent(".\(directory.lastPathComponent).tmp")
        let places = [directory.path, folder.path]
        for place in places {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
            if let left = names.first(where: { $0.hasPrefix(".kf-") }) {
                Soak.end(.failed, "the temporary file \(place)/\(left) was left behind")
            }
        }
    }

    /// Changes a byte or cuts some off as a failing disk would, behind everybody's back, and answers the file's name.
    private func damageOne(_ random: inout Xorshift) throws -> String? {
        let all = files().filter { $0.size > 0 && $0.times.1.tv_sec > time(nil) + 60 }.sorted { $0.name < $1.name }
        guard !all.isEmpty else { return nil }
        let victim = all[Int(random.next(below: UInt64(all.count)))]
        let number = open(folder + "/" + victim.name, O_RDWR)
        guard number >= 0 else { return nil }
        defer { close(number) }
        let place = Int(random.next(below: UInt64(victim.size)))
        if random.next(below: 4) == 0 {
            ftruncate(number, place)
        } else {
            var byte: UInt8 = 0
            pread(number, &byte, 1, place)
            byte ^= UInt8(1 << random.next(below: 8))
            pwrite(number, &byte, 1, place)
        }
        futimens(number, [victim.times.0, victim.times.1])
        return victim.name
    }

    private var folder: String { Tormentor.config(directory: directory).folder(in: directory) }

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
    /// Where the entries lie, as documented.
    fileprivate func folder(in directory: URL) -> String {
        directory.appendingPathComponent("com.onevcat.Kingfisher.ImageCache.\(name)").path
    }
}
