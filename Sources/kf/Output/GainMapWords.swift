// A gain map's numbers for people and for scripts, for `kf info`.

import KFImaging
import KFSupport

extension GainMapInfo {
    /// Its size, the ways its parameters are written in, and its main numbers.
    var words: String {
        let kinds = parameterKinds.map { $0 == .iso ? "ISO 21496-1" : "XMP" }.joined(separator: " and ")
        let numbers = [
            "boost " + Self.range(channels.map(\.minBoost).min() ?? 0, channels.map(\.maxBoost).max() ?? 0),
            "for screens of " + Self.range(minCapacity, maxCapacity),
        ]
        return "\(pixelWidth)×\(pixelHeight) pixels, \(kinds), " + numbers.joined(separator: ", ")
            + (isBaseHDR ? ", the image is the bright one" : "")
    }

    /// As scripts read it.
    var json: JSON {
        [
            "width": .int(pixelWidth),
            "height": .int(pixelHeight),
            "parameters": .array(parameterKinds.map { .string($0.rawValue) }),
            "channels": .array(channels.map(\.json)),
            "minCapacity": .number(minCapacity),
            "maxCapacity": .number(maxCapacity),
            "isBaseHDR": .bool(isBaseHDR),
        ]
    }

    private static func range(_ low: Double, _ high: Double) -> String {
        "\(Units.fixed(low, digits: 2))…\(Units.fixed(high, digits: 2)) stops"
    }
}

extension GainMapInfo.Channel {
    fileprivate var json: JSON {
        [
            "minBoost": .number(minBoost),
            "maxBoost": .number(maxBoost),
            "gamma": .number(gamma),
            "offsetSDR": .number(offsetSDR),
            "offsetHDR": .number(offsetHDR),
        ]
    }
}
