// Where the user's caches lie, by the rules of the XDG base directories. For disk storages whose place is not named.

import Foundation

/// The directory for the user's caches.
package enum CachesDirectory {
    /// Stands for the directory of a user who has no home: no directory can be made there.
    package static let none = "/dev/null/no home directory"

    /// `$XDG_CACHE_HOME`, or `.cache` in the user's home; ``none`` if there is neither.
    package static var path: String {
        if let path = absolutePath(getenv("XDG_CACHE_HOME")) { return path }
        // Services of systemd have no variable HOME.
        return (absolutePath(getenv("HOME")) ?? homeOfAccount()).map { $0 + "/.cache" } ?? none
    }

    /// A path, unless it is empty or relative: then it does not count.
    private static func absolutePath(_ text: UnsafePointer<CChar>?) -> String? {
        guard let text, text.pointee == UInt8(ascii: "/") else { return nil }
        return String(cString: text)
    }

    /// The home of the effective user's account; nil if there is no account, or it has none.
    private static func homeOfAccount() -> String? {
        var account = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 << 10) { buffer in
            guard let names = buffer.baseAddress else { return nil }
            getpwuid_r(geteuid(), &account, names, buffer.count, &found)
            return found.flatMap { absolutePath($0.pointee.pw_dir) }
        }
    }
}
