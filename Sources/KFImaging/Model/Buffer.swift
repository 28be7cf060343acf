// Memory that may not be had: taking it fails with an error where an array would end the process. Knows no pixels.

import Foundation

/// Memory for plain values, *not* initialised, freed when its last owner releases it.
///
/// Everything whose size a picture decides lives in one of these.
final class Buffer<Element: BitwiseCopyable> {
    let base: UnsafeMutablePointer<Element>
    let count: Int

    /// Takes memory for `count` values.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ count: Int) throws(ImagingError) {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        guard !overflow, count >= 0 else { throw .outOfMemory(bytes: nil) }
        guard AllocationPolicy.permits?(bytes) ?? true, let memory = malloc(max(1, bytes)) else {
            throw .outOfMemory(bytes: bytes)
        }
        base = memory.bindMemory(to: Element.self, capacity: count)
        self.count = count
    }

    deinit { free(base) }
}

/// Decides whether ``Buffer`` may take memory, so that tests can simulate a lack of it.
package enum AllocationPolicy {
    /// Asked with a number of bytes before they are taken, in the task that sets it; nil permits everything.
    @TaskLocal package static var permits: (@Sendable (Int) -> Bool)?
}
