// The names of values in a shared tier. For TierAccess.

import KFStorage

/// The key of an entry in a tier: the same on every machine, and without anything that could be read.
struct TierKey: Hashable, Sendable {
    /// Letters, digits and a hyphen.
    let name: String

    /// The key of an entry of the disk cache.
    ///
    /// Changes with the layout of values, so that programs with different ones do not meet.
    init(forKey computedKey: String, _ forcedExtension: String?) {
        name = "kf1-" + FileNaming.hash("\(computedKey.utf8.count):\(computedKey)\(forcedExtension ?? "")")
    }

    /// A key of another value than an entry.
    init(name: String) { self.name = name }

    /// What the lease for making it is called.
    var lease: String { name + Self.leaseSuffix }

    /// What the names of leases end with.
    static let leaseSuffix = "-lease"
}
