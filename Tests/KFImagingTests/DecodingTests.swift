// Sizes of decoded images, conversions at one time, and parts of a file that lie apart.

import Foundation
import KFImaging
import Testing

@Suite struct DecodingTests {
    @Test("Decoding never enlarges an image") func noEnlarging() throws {
        for limit in [0, -5, 96, 500] {
            let image = try picture("photo.jpg", maxPixelSize: limit)
            #expect(image.pixelWidth == 96 && image.pixelHeight == 64)
        }
    }
}

@Suite struct ColorProfileTests {
    @Test("Conversions may run concurrently") func concurrentConversions() async throws {
        let data = try fixture("display-p3.png")
        let reference = try Codecs.decode(data).bitmap().rows
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { try Codecs.decode(data).bitmap().rows == reference } }
            for try await isEqual in group { #expect(isEqual) }
        }
    }
}

/// The alpha of an image may be apart from its colours, with other data between the two.
@Suite struct ScatteredAVIFTests {
    @Test("Data between colours and alpha is skipped") func gapBetweenItems() throws {
        let whole = try fixture("alpha.avif")
        let scattered = try #require(whole.withGapBetweenItems(of: 40))
        let (one, other) = try (Codecs.decode(whole), Codecs.decode(scattered))
        #expect(scattered.count == whole.count + 40)
        #expect(one.hasAlpha && other.hasAlpha)
        let (left, right) = (try #require(one.cgImage), try #require(other.cgImage))
        let areEqual = left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqual($0) } }
        #expect(areEqual)
    }
}

extension Data {
    private func number(at offset: Int) -> Int { self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

    private mutating func setNumber(_ value: Int, at offset: Int) {
        for index in 0..<4 { self[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index)) }
    }

    /// The file, whose last box holds two items in a row, with other data between them.
    fileprivate func withGapBetweenItems(of length: Int) -> Data? {
        guard let mark = range(of: Data("mdat".utf8)) else { return nil }
        let places = (0..<mark.lowerBound - 8)
        for place in places where number(at: place) == mark.upperBound {
            let second = mark.upperBound + number(at: place + 4)
            guard let other = places.first(where: { number(at: $0) == second && second + number(at: $0 + 4) == count })
            else { continue }
            var copy = self
            copy.setNumber(second + length, at: other)
            copy.setNumber(number(at: mark.lowerBound - 4) + length, at: mark.lowerBound - 4)
            copy.insert(contentsOf: [UInt8](repeating: 0xFF, count: length), at: second)
            return copy
        }
        return nil
    }
}
