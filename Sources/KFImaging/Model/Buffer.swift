// Memory for pixels: taking it fails with an error where an array would end the process. For bitmaps and operations.

import Foundation

/// Memory for plain values, *not* initialised unless that is requested, freed when its last owner releases it.
///
/// Everything whose size an image decides lives in one of these.
final class Buffer<Element: BitwiseCopyable> {
    let base: UnsafeMutablePointer<Element>
    let count: Int
    private let isOwned: Bool

    /// Takes memory for `count` values, which are zero if requested.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ count: Int, isZeroed: Bool = false) throws(ImagingError) {
        let (bytes, overflow) = count.multipliedReportingOverflow(by: MemoryLayout<Element>.stride)
        guard !overflow, count >= 0 else { throw .outOfMemory(bytes: nil) }
        guard let memory = isZeroed ? calloc(max(1, bytes), 1) : malloc(max(1, bytes)) else {
            throw .outOfMemory(bytes: bytes)
        }
        base = memory.bindMemory(to: Element.self, capacity: count)
        self.count = count
        isOwned = true
    }

    /// Uses memory that the buffer does not own.
    init(at memory: UnsafeMutableRawPointer, _ count: Int) {
        base = memory.bindMemory(to: Element.self, capacity: count)
        self.count = count
        isOwned = false
    }

    deinit { if isOwned { free(base) } }
}
