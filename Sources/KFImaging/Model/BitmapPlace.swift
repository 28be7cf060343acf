// Where the next bitmap is made: a decoder process makes its result in the memory that its parent reads.

import KFSupport

/// Memory for one bitmap, so that it need not be copied there.
enum BitmapPlace {
    private struct Place: Sendable {
        let address: UInt
        let count: Int
    }

    private static let next = Locked<Place?>(nil)

    /// Offers memory, which begins on a multiple of 16 bytes and has to stay as long as the bitmap; nil offers none.
    static func offer(_ memory: UnsafeMutableRawBufferPointer?) {
        let place = memory.flatMap { memory in
            memory.baseAddress.map { Place(address: UInt(bitPattern: $0), count: memory.count) }
        }
        next.withLock { $0 = place }
    }

    /// Takes the memory, if there is enough.
    static func take(_ count: Int) -> UnsafeMutableRawPointer? {
        let place = next.withLock { next -> Place? in
            guard let place = next, place.count >= count else { return nil }
            next = nil
            return place
        }
        return place.flatMap { UnsafeMutableRawPointer(bitPattern: $0.address) }
    }
}
