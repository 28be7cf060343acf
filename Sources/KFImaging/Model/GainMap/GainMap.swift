// The gain map of a JPEG: its own file, and its parameters. Found in files, and written into others, by the codecs.

import Foundation

/// A gain map: an image behind the image of a JPEG, and what its numbers mean.
package struct GainMap: Sendable, Hashable {
    /// The map as a JPEG without any metadata.
    let file: Data
    /// The size of the map.
    let size: PixelSize
    /// Whether it has one number a pixel, for all colours.
    let isGrey: Bool
    /// The parameters in XMP; nil where the file has none there.
    let xmp: GainMapXMP?
    /// Those by ISO 21496-1; nil where the file has none.
    let iso: GainMapISO?
    /// The size of the image that it belongs to, as stored.
    let imageSize: PixelSize
    /// The limits within which the map is decoded, and where that is done.
    let limits: ImageDecodingLimits

    /// What is said about the map; nil without parameters.
    var info: GainMapInfo? {
        guard let parameters = iso?.parameters ?? xmp?.parameters else { return nil }
        return GainMapInfo(
            pixelWidth: size.width,
            pixelHeight: size.height,
            parameterKinds: (xmp == nil ? [] : [.xmp]) + (iso == nil ? [] : [.iso]),
            channels: parameters.channels,
            minCapacity: parameters.minCapacity,
            maxCapacity: parameters.maxCapacity,
            isBaseHDR: parameters.isBaseHDR
        )
    }
}

/// The parameters of a gain map, whichever way they are written.
struct GainMapParameters: Hashable {
    let channels: [GainMapInfo.Channel]
    let minCapacity: Double
    let maxCapacity: Double
    let isBaseHDR: Bool
}
