// `kf cache`: looks into the tool's cache and empties it.

import ArgumentParser
import Foundation
import KFSupport
import Kingfisher

/// Inspects and empties the cache.
struct CacheCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "Look into the cache, or empty it.",
        discussion: """
              kf cache stats
              kf cache remove https://example.com/photo.jpg
              kf cache clear
            """,
        subcommands: [Stats.self, List.self, Has.self, Remove.self, Clean.self, Clear.self]
    )

    /// The options of all subcommands.
    struct Arguments: ParsableArguments {
        @OptionGroup var cacheArguments: CacheArguments

        @Flag(help: "Print one JSON object per line.")
        var json = false

        /// Runs something with the cache; if it throws, or returns false, the exit status is 1.
        func run(_ body: (ImageCache, Console) async throws(KingfisherError) -> Bool) async throws {
            let console = Console()
            if let problem = cacheArguments.problem {
                console.error(problem)
                throw ExitStatus.failed
            }
            let isSuccess: Bool
            let cache = cacheArguments.existingCache()
            do throws(KingfisherError) {
                isSuccess = try await body(cache, console)
            } catch {
                throw Failure(error, cache)
            }
            if !isSuccess { throw ExitStatus.failed }
        }

        /// Prints a result, as JSON or as lines.
        func printResult(_ console: Console, _ json: JSON, _ lines: String...) {
            printResult(console, json, lines: lines)
        }

        /// Prints a result, as JSON or as lines.
        func printResult(_ console: Console, _ json: JSON, lines: [String]) {
            console.print(lines: self.json ? [json.description] : lines)
        }
    }
}

extension CacheCommand {
    /// Prints the number of entries and their size.
    struct Stats: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the number of entries, their size, what has expired, and the oldest and newest access.",
            discussion:
                "--json prints directory, entries, bytes, expired, oldest and newest; the last two are null if empty."
        )
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                let entries = try await cache.diskEntries()
                let bytes = Units.sum(entries.map(\.size))
                let expired = entries.count { $0.isExpired }
                let directory = cache.diskStorage.directoryURL.path
                let accesses = entries.map(\.lastAccess).sorted()
                let (oldest, newest) = (accesses.first?.formatted(.iso8601), accesses.last?.formatted(.iso8601))
                let known: JSON = [
                    "directory": .string(directory), "entries": .int(entries.count), "bytes": .int(bytes),
                    "expired": .int(expired), "oldest": .optional(oldest, JSON.string),
                    "newest": .optional(newest, JSON.string),
                ]
                let isThere = FileManager.default.fileExists(atPath: directory)
                let lines = [
                    "directory  \(directory)\(isThere ? "" : " (not there yet)")",
                    "entries    \(entries.count)",
                    "bytes      \(bytes) (\(Units.bytes(bytes)))",
                    "expired    \(expired)",
                    "oldest     \(oldest.map { "last used \($0)" } ?? "none")",
                    "newest     \(newest.map { "last used \($0)" } ?? "none")",
                ]
                arguments.printResult(console, known, lines: lines)
                return true
            }
        }
    }

    /// Lists the entries.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the entries: key, size and expiry, the latest used first.",
            discussion: "--json prints key, file, bytes, expires and lastAccess (both in seconds since 1970) an entry."
        )
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                let entries = try await cache.diskEntries().sorted { $0.lastAccess > $1.lastAccess }
                guard !arguments.json else {
                    for entry in entries { console.print(entry.json.description) }
                    return true
                }
                var table = TextTable(("bytes", .right), ("expires", .left), ("key", .left))
                for entry in entries {
                    table.add(
                        Units.bytes(entry.size),
                        entry.expiryText,
                        Units.source(entry.key ?? entry.fileName)
                    )
                }
                if !table.isEmpty { console.print(lines: table.lines) }
                return true
            }
        }
    }

    /// Says whether a key is stored.
    struct Has: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether a key is in the cache; exit with 0 if so and with 1 if not."
        )
        @Argument(help: "A key, or what list prints for one.") var key: String
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                let isThere = try await cache.storedKey(for: key) != nil
                arguments.printResult(
                    console,
                    ["key": .string(Redaction.source(key)), "cached": .bool(isThere)],
                    isThere ? "yes" : "no"
                )
                return isThere
            }
        }
    }

    /// Removes one entry.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a key from the cache; exit with 1 if it was not there."
        )
        @Argument(help: "A key, or what list prints for one.") var key: String
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                let stored = try await cache.storedKey(for: key, evenExpired: true)
                let isThere = stored != nil
                if let stored { try await Self.remove(stored, cache) }
                arguments.printResult(
                    console,
                    ["key": .string(Redaction.source(key)), "removed": .bool(isThere)],
                    isThere ? "removed" : "was not there"
                )
                return isThere
            }
        }

        // Inside a closure the compiler would choose the form that does not wait.
        private static func remove(_ key: String, _ cache: ImageCache) async throws(KingfisherError) {
            try await cache.removeImage(forKey: key)
        }
    }

    /// Removes expired entries.
    struct Clean: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove what has expired.")
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                try await arguments.removing(console, cache, \.isExpired) { await $0.cleanExpiredDiskCache() }
            }
        }
    }

    /// Removes everything.
    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove everything.")
        @OptionGroup var arguments: Arguments

        func run() async throws {
            try await arguments.run { cache, console throws(KingfisherError) in
                try await arguments.removing(console, cache, { _ in true }) { await $0.clearDiskCache() }
            }
        }
    }
}

extension CacheCommand.Arguments {
    /// Removes entries and prints how many; returns false when some that should go are still there.
    fileprivate func removing(
        _ console: Console,
        _ cache: ImageCache,
        _ shouldGo: (ImageCache.DiskEntry) -> Bool,
        _ remove: (ImageCache) async -> Void
    ) async throws(KingfisherError) -> Bool {
        let before = try await cache.diskEntries()
        await remove(cache)
        // Other processes may store and read at the same time: entries that are new or were used are not counted.
        let after = Set(try await cache.diskEntries().map(\.identity))
        let gone = before.filter { !after.contains($0.identity) }
        let left = before.count { shouldGo($0) && after.contains($0.identity) }
        let bytes = Units.sum(gone.map(\.size))
        printResult(
            console,
            ["removed": .int(gone.count), "bytes": .int(bytes)],
            "removed \(gone.count) \(gone.count == 1 ? "entry" : "entries"), \(Units.bytes(bytes))"
        )
        if left > 0 {
            let directory = cache.diskStorage.directoryURL.path
            console.error("\(left) of the entries in \(directory) could not be removed; may this user write there?")
        }
        return left == 0
    }
}

extension ImageCache {
    /// The key of the entry that is printed as `key`: the stored key may hold secrets, or be longer.
    ///
    /// Nil when nothing is stored, or when several entries are printed like that.
    fileprivate func storedKey(for key: String, evenExpired: Bool = false) async throws(KingfisherError) -> String? {
        if await imageCachedTypeAsync(forKey: key).cached { return key }
        let keys = Set(try await diskEntries().filter { evenExpired || !$0.isExpired }.compactMap(\.key))
        guard !keys.contains(key) else { return key }
        let printed = keys.filter { Redaction.source($0) == key || Units.source($0) == key }
        return printed.count == 1 ? printed.first : nil
    }
}

extension ImageCache.DiskEntry {
    fileprivate var isExpired: Bool { expiration <= .now }

    /// The values that change when the entry is replaced or used.
    fileprivate var identity: [String] {
        [fileName, "\(size)", "\(expiration.timeIntervalSince1970)", "\(lastAccess.timeIntervalSince1970)"]
    }

    fileprivate var json: JSON {
        [
            "key": .optional(key.map(Redaction.source), JSON.string),
            "file": .string(fileName),
            "bytes": .int(size),
            "expires": expiration == .distantFuture ? .null : .number(expiration.timeIntervalSince1970.rounded()),
            "lastAccess": .number(lastAccess.timeIntervalSince1970.rounded()),
        ]
    }

    /// The approximate time until the entry expires.
    fileprivate var expiryText: String {
        let seconds = expiration.timeIntervalSinceNow
        return switch seconds {
        case ...0: "expired"
        case ..<3600: "in \(Int((seconds / 60).rounded())) min"
        case ..<172_800: "in \(Int((seconds / 3600).rounded())) h"
        case ..<1e9: "in \(Int((seconds / 86_400).rounded())) days"
        default: "never"
        }
    }
}
