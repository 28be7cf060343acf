// Memory for pixels: taking it fails with an error where an array would end the process. For bitmaps and operations. A
// decoder process makes its result in the memory that its parent reads.

import Foundation
import KFSupport

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

/// Memory for one bitmap, so that it need not be copied there.
enum BitmapMemory {
    private struct Region: Sendable {
        let address: UInt
        let count: Int
    }

    private static let next = Locked<Region?>(nil)

    /// Offers memory, which begins on a multiple of 16 bytes and has to stay as long as the bitmap; nil offers none.
    static func offer(_ memory: UnsafeMutableRawBufferPointer?) {
        let region = memory.flatMap { memory in
            memory.baseAddress.map { Region(address: UInt(bitPattern: $0), count: memory.count) }
        }
        next.withLock { $0 = region }
    }

    /// Takes the memory, if there is enough.
    static func claim(_ count: Int) -> UnsafeMutableRawPointer? {
        let region = next.withLock { next -> Region? in
            guard let region = next, region.count >= count else { return nil }
            next = nil
            return region
        }
        return region.flatMap { UnsafeMutableRawPointer(bitPattern: $0.address) }
    }
}
