// The cache of conversions of colour profiles, and the profiles that it does not take.

import Foundation
import Testing

@testable import KFImaging

@Suite struct ColorTransformCacheTests {
    /// The profile of a fixture, made longer; profiles of one length differ in their last byte.
    private func profile(_ length: Int, _ last: UInt8 = 0) throws -> ColorProfile {
        var data = try fixture("display-p3.webp")
        data.append(Data(count: max(0, length - data.count - 1)))
        data.append(last)
        return .icc(data)
    }

    private func conversion() throws -> ColorTransform {
        try #require(ColorProfile.coded(primaries: 12, transfer: 8)?.transform(for: .rgb))
    }

    @Test("A profile is converted once") func convertsOnce() throws {
        let cache = ColorTransformCache()
        var count = 0
        for _ in 0..<3 {
            let made = try conversion()
            _ = cache.transform(of: try profile(500_000), for: .rgb) {
                count += 1
                return made
            }
        }
        #expect(count == 1 && cache.byteCount == 500_000)
    }

    @Test("Profiles that differ in their last byte, or in the colours they are for, are distinct")
    func lastByteDistinguishes() throws {
        let cache = ColorTransformCache()
        let one = try conversion()
        #expect(try cache.transform(of: profile(1000, 1), for: .rgb) { one } === one)
        #expect(try cache.transform(of: profile(1000, 2), for: .rgb) { nil } == nil)
        #expect(try cache.transform(of: profile(1000, 1), for: .grey) { nil } == nil)
        #expect(try cache.transform(of: profile(1000, 1), for: .rgb) { nil } === one)
        #expect(try cache.transform(of: profile(1000, 2), for: .rgb) { one } == nil)
    }

    @Test("Profiles above the maximum size are not cached") func largeProfilesNotCached() throws {
        let cache = ColorTransformCache()
        var count = 0
        for _ in 0..<2 {
            _ = cache.transform(of: try profile(ColorTransformCache.maxProfileByteCount + 1), for: .rgb) {
                count += 1
                return nil
            }
        }
        #expect(count == 2 && cache.byteCount == 0)
    }

    @Test("The cache stays within its limits", arguments: [1000, 700_000, ColorTransformCache.maxProfileByteCount])
    func staysWithinLimits(length: Int) throws {
        let cache = ColorTransformCache()
        for last in 0..<40 as Range<UInt8> {
            _ = cache.transform(of: try profile(length, last), for: .rgb) { nil }
            let limit = min(ColorTransformCache.maxByteCount, ColorTransformCache.maxCount * length)
            #expect(cache.byteCount <= limit && cache.byteCount >= length)
        }
    }
}
