// How much memory this process may use. For the limits of caches, and of decoders.

import Foundation

/// The machine's memory, or less if a control group or a limit of the process says so.
package enum UsableMemory {
    /// In bytes.
    package static var bytes: UInt64 {
        bytes(of: ProcessInfo.processInfo.physicalMemory, root: "", resourceLimits: resourceLimits)
    }

    /// The part of a machine's memory that may be used, given the file system at `root` and the limits of the process.
    package static func bytes(of physical: UInt64, root: String, resourceLimits: [UInt64] = []) -> UInt64 {
        ([physical] + resourceLimits + [controlGroupLimit(root: root)].compactMap(\.self)).min() ?? physical
    }

    /// The lowest limit of the control groups this process is in; nil if there is none.
    ///
    /// A test has a file system of its own, which begins at `root`.
    package static func controlGroupLimit(root: String) -> UInt64? { ControlGroup(root: root).memoryLimit }

    /// The limits set by `ulimit -v` and `ulimit -d`, if there are any.
    private static var resourceLimits: [UInt64] {
        [RLIMIT_AS, RLIMIT_DATA].compactMap { resource in
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != .max else {
                return nil
            }
            return UInt64(limit.rlim_cur)
        }
    }
}
