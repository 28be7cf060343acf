// The parameters of a gain map in the binary form of ISO 21496-1. For GainMap.

import Foundation

/// The parameters of a gain map as ISO 21496-1 writes them.
struct GainMapISO: Hashable {
    /// What its segment, an `APP2`, begins with.
    // Made each time: what a `Data` that is kept holds is a leak to the leak sanitizer.
    static var signature: Data { Data("urn:iso:std:iso:ts:21496:-1\0".utf8) }
    /// The bits of the byte that tells what follows.
    private enum Flag {
        static let hasThreeChannels: UInt8 = 0x80
        /// One denominator stands for all numbers, as the standard's drafts had it, and the files of phones do.
        static let sharesDenominator: UInt8 = 0x08
    }

    /// The parameters as numbers.
    let parameters: GainMapParameters
    /// The bytes that hold them.
    private let bytes: Data

    /// Nil for bytes that end too early, belong to a later version, or have a denominator of zero.
    init?(_ content: Data) {
        var reader = FractionReader(content)
        guard reader.number(2) == 0, reader.number(2) != nil, let flags = reader.number(1).map({ UInt8($0) }) else {
            return nil
        }
        if flags & Flag.sharesDenominator != 0 {
            guard let denominator = reader.number(4), denominator > 0 else { return nil }
            reader.denominator = denominator
        }
        guard let base = reader.fraction(), let alternate = reader.fraction() else { return nil }
        let isBaseHDR = base > alternate
        var channels: [GainMapInfo.Channel] = []
        for _ in 0..<(flags & Flag.hasThreeChannels == 0 ? 1 : 3) {
            guard let channel = reader.channel(isBaseHDR: isBaseHDR) else { return nil }
            channels.append(channel)
        }
        bytes = Data(content.prefix(reader.count))
        parameters = GainMapParameters(
            channels: channels,
            minCapacity: min(base, alternate),
            maxCapacity: max(base, alternate),
            isBaseHDR: isBaseHDR
        )
    }

    /// The content of the map's segment, with the bytes that were read.
    var content: Data { Self.signature + bytes }

    /// The content of the image's segment, which names the version alone.
    var imageContent: Data { Self.signature + bytes.prefix(4) }
}

/// Reads the numbers of ISO 21496-1, one after the other.
private struct FractionReader {
    private let bytes: Data
    /// How many bytes have been read.
    private(set) var count = 0
    /// The denominator of all fractions; nil where each has one of its own.
    var denominator: Int?

    init(_ bytes: Data) { self.bytes = bytes }

    /// The next number without a sign; nil where the bytes end.
    mutating func number(_ size: Int) -> Int? {
        guard size <= bytes.count - count else { return nil }
        defer { count += size }
        return bytes.dropFirst(count).prefix(size).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The next fraction; nil where the bytes end, and for one of zero parts.
    mutating func fraction(isSigned: Bool = false) -> Double? {
        guard let numerator = number(4), let parts = denominator ?? number(4), parts > 0 else { return nil }
        return Double(isSigned ? Int(Int32(truncatingIfNeeded: numerator)) : numerator) / Double(parts)
    }

    /// The next channel.
    ///
    /// The standard counts from the base to the alternate rendition: where the base is the brighter one, it is turned
    /// round.
    mutating func channel(isBaseHDR: Bool) -> GainMapInfo.Channel? {
        guard let low = fraction(isSigned: true), let high = fraction(isSigned: true), let gamma = fraction(),
            let base = fraction(isSigned: true), let alternate = fraction(isSigned: true), gamma > 0
        else { return nil }
        return GainMapInfo.Channel(
            minBoost: isBaseHDR ? -high : low,
            maxBoost: isBaseHDR ? -low : high,
            gamma: gamma,
            offsetSDR: isBaseHDR ? alternate : base,
            offsetHDR: isBaseHDR ? base : alternate
        )
    }
}
