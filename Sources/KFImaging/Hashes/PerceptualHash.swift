// 64 bits by which images that look alike are found: those of one photo in other sizes, formats and qualities.

import Foundation

/// Bits that say how an image looks, coarsely: few of them differ between images that look alike.
///
/// Of one photo in other sizes, formats and qualities, up to some 5 bits differ; of two photos, some 32. Turned,
/// mirrored and cropped images are others.
public struct PerceptualHash: Hashable, Sendable, Codable, LosslessStringConvertible {
    /// The bits.
    public let bits: UInt64

    /// A hash of these bits, such as those that a database has.
    public init(bits: UInt64) { self.bits = bits }

    /// A hash that was written as 16 hexadecimal digits; nil for any other text.
    public init?(_ description: String) {
        guard description.utf8.count == 16, description.allSatisfy(\.isHexDigit),
            let bits = UInt64(description, radix: 16)
        else { return nil }
        self.bits = bits
    }

    /// How many bits differ, 0…64; up to some 10, images look alike.
    public func distance(to other: PerceptualHash) -> Int { (bits ^ other.bits).nonzeroBitCount }

    /// 16 hexadecimal digits.
    public var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Collection<PerceptualHash> {
    /// The groups of hashes that are alike: each is close to one of its group at least.
    ///
    /// It compares all pairs: 20,000 hashes take less than a second.
    ///
    /// - Parameter distance: How many bits may differ, 0…64.
    /// - Returns: For each group of two or more the places of its hashes, in their order.
    package func groups(within distance: Int) -> [[Int]] {
        let bits = map(\.bits)
        // The group of each is known by its first hash; those on the way to it are shortened while it is looked for.
        var first = Array(bits.indices)
        func group(_ place: Int) -> Int {
            var place = place
            while first[place] != place {
                first[place] = first[first[place]]
                place = first[place]
            }
            return place
        }
        for one in bits.indices {
            for other in bits.indices[(one + 1)...] where (bits[one] ^ bits[other]).nonzeroBitCount <= distance {
                let (a, b) = (group(one), group(other))
                first[Swift.max(a, b)] = Swift.min(a, b)
            }
        }
        let groups = Dictionary(grouping: bits.indices, by: group).values
        return groups.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
    }
}

extension PerceptualHash {
    /// The image is made this wide and high.
    private static let side = 32
    /// As many waves are kept on each axis.
    private static let waves = 8
    /// The cosine of each wave at each place.
    private static let cosines: [[Double]] = (0..<waves).map { wave in
        (0..<side).map { (place: Int) -> Double in
            let center = Double(place) + 0.5
            return cos(center * Double(wave) * Double.pi / Double(side))
        }
    }

    /// The hash of an upright bitmap, laid over white: for each of the longest waves, whether there is more of it than
    /// of most.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    init(_ bitmap: Bitmap) throws(ImagingError) {
        let small = try bitmap.resampled(to: PixelSize(Self.side, Self.side))
        let cosines = Self.cosines
        // Along the rows first, and then along the columns.
        var lines = [[Double]](repeating: [], count: Self.side)
        small.forEachRow { y, row in
            let greys = (0..<Self.side).map { x in
                let pixel = row[x]
                func component(_ shift: UInt32) -> Double { Double(pixel >> shift & 0xFF) }
                return 0.299 * component(16) + 0.587 * component(8) + 0.114 * component(0) + 255 - component(24)
            }
            lines[y] = cosines.map { wave in zip(wave, greys).reduce(0) { $0 + $1.0 * $1.1 } }
        }
        let amounts = cosines.flatMap { wave in
            (0..<Self.waves).map { column -> Double in
                zip(wave, lines).reduce(0.0) { sum, pair in sum + pair.0 * pair.1[column] }
            }
        }
        // The first is the mean brightness, which says nothing.
        let median = amounts.dropFirst().sorted()[31]
        bits = amounts.reduce(0) { $0 << 1 | ($1 > median ? 1 : 0) }
    }
}

extension Image {
    /// The hash of the image as it is displayed; nil for the empty image, and without memory.
    package var perceptualHash: PerceptualHash? {
        guard let bitmap = try? upright().cgImage else { return nil }
        return try? PerceptualHash(bitmap)
    }
}
