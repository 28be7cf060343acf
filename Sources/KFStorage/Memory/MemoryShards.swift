// The memory in which the shards of a memory store lie. For MemoryCore.

import CKFLinux
import KFSupport

/// The shards of a memory store, each behind a lock, and no two on one cache line.
///
/// The part of a shard that a look-up writes lies on one cache line with its lock, and nothing else does: threads that
/// look up different keys contend only while they are in the same shard. Processors fetch lines in pairs, so every
/// shard starts where a pair does.
struct MemoryShards: ~Copyable, Sendable {
    /// A power of two; so many that two threads hardly ever meet in one.
    static let count = 64
    private static let alignment = 128
    private static let stride = (MemoryLayout<Locked<MemoryShard>>.size + alignment - 1) & ~(alignment - 1)

    // SAFETY: never changes, and the memory is freed by `deinit` alone, when no other reference is left. What lies
    // there are locks, which threads may share; nothing else takes a pointer to them.
    private nonisolated(unsafe) let start: UnsafeMutableRawPointer

    /// Empty shards.
    init() {
        start = .allocate(byteCount: Self.count * Self.stride, alignment: Self.alignment)
        for number in 0..<Self.count {
            (start + number * Self.stride).initializeMemory(as: Locked<MemoryShard>.self, to: Locked(MemoryShard()))
        }
    }

    deinit {
        for number in 0..<Self.count { place(of: number).deinitialize(count: 1) }
        start.deallocate()
    }

    var indices: Range<Int> { 0..<Self.count }

    @inline(__always)
    subscript(number: Int) -> Locked<MemoryShard> {
        _read { yield place(of: number).pointee }
    }

    /// Fetches the cache line that every look-up in a shard writes, without waiting: another processor may hold it.
    @inline(__always)
    func prefetch(_ number: Int) { kf_prefetch_for_writing(place(of: number)) }

    @inline(__always)
    private func place(of number: Int) -> UnsafeMutablePointer<Locked<MemoryShard>> {
        assert(indices.contains(number))
        return (start + number * Self.stride).assumingMemoryBound(to: Locked<MemoryShard>.self)
    }
}
