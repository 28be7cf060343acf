// A cache of conversions, since images of one source share a handful of profiles.

import Foundation
import KFSupport

/// The latest conversions, within a number and a number of bytes.
final class ColorTransformCache: Sendable {
    static let shared = ColorTransformCache()
    static let maxCount = 16
    /// The most bytes that the profiles of all conversions may have; profiles of printers have about half a megabyte.
    static let maxByteCount = 4 << 20
    /// A larger profile is not kept.
    static let maxProfileByteCount = 1 << 20

    /// A profile is identified by a randomly seeded hash, so that a look-up compares no profiles under the lock.
    private struct Key: Hashable {
        let digest: Int
        let byteCount: Int
        let pixels: ColorProfile.Pixels
    }
    private struct Entry {
        let profile: ColorProfile
        let transform: ColorTransform?
    }
    private struct State {
        var entries: [Key: Entry] = [:]
        var byteCount = 0
    }
    private let state = Locked(State())

    /// How many bytes the kept profiles have.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// The cached conversion, or else the one that `make` gives; nil when there is nothing to convert.
    func transform(
        of profile: ColorProfile,
        for pixels: ColorProfile.Pixels,
        make: () -> ColorTransform?
    ) -> ColorTransform? {
        let size = profile.byteCount
        guard size <= Self.maxProfileByteCount else { return make() }
        let key = Key(digest: profile.digest, byteCount: size, pixels: pixels)
        // Compared outside of the lock.
        if let known = state.withLock({ $0.entries[key] }), known.profile == profile { return known.transform }
        let made = Entry(profile: profile, transform: make())
        state.withLock { state in
            // So many different profiles are not worth keeping.
            if state.entries.count >= Self.maxCount || state.byteCount + size > Self.maxByteCount { state = State() }
            if state.entries.updateValue(made, forKey: key) == nil { state.byteCount += size }
        }
        return made.transform
    }
}

extension ColorProfile {
    /// The memory that keeping the profile takes.
    fileprivate var byteCount: Int {
        switch self {
        case .icc(let data): data.count
        case .primaries, .highDynamicRange: 100
        }
    }

    /// A hash of the whole profile; the one of `Data` looks at its beginning only.
    fileprivate var digest: Int {
        var hasher = Hasher()
        switch self {
        case .icc(let data): data.withUnsafeBytes { hasher.combine(bytes: $0) }
        case .primaries, .highDynamicRange: hasher.combine(self)
        }
        return hasher.finalize()
    }
}
