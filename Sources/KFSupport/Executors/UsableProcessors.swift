// How many processors this process may use. For the numbers of threads that work on pixels.

import Foundation

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
