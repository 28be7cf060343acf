// How much memory this process may use, and how many processors. For the limits of caches and of decoders, and for the
// numbers of threads that work on pixels.

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

/// The machine's processors, or fewer if a control group says so.
package enum UsableProcessors {
    /// Their number when it was first needed.
    package static let count = count(of: ProcessInfo.processInfo.activeProcessorCount, root: "")

    /// How many of a machine's processors may be used, given the file system at `root`; a part of one counts as one.
    package static func count(of processors: Int, root: String) -> Int {
        let limit = ControlGroup(root: root).processorLimit ?? .infinity
        return max(1, Int(min(limit, Double(processors)).rounded(.up)))
    }
}
