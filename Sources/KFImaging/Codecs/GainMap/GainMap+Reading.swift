// Finds the gain map of a JPEG. For ImageInfo, and for what encodes images with the map of their source.

package import Foundation

extension GainMap {
    /// The gain map of a file; nil for one without, and for a map that cannot be understood.
    ///
    /// Nothing is decoded: the structure of files is read in Swift, in this process.
    ///
    /// - Parameters:
    ///   - data: The bytes of a JPEG. Its map is found by the index of the Multi-Picture Format, and is an image with
    ///     parameters in XMP or by ISO 21496-1.
    ///   - limits: Those of the map's pixels, should they be decoded.
    package init?(of data: Data, limits: ImageDecodingLimits = .default) {
        guard let segments = JPEGSegments(data), let imageSize = segments.frame?.size else { return nil }
        for image in MultiPictureIndex.otherImages(segments) {
            guard let map = GainMap(image, of: imageSize, limits) else { continue }
            self = map
            return
        }
        return nil
    }

    private init?(_ image: Data, of imageSize: PixelSize, _ limits: ImageDecodingLimits) {
        guard let segments = JPEGSegments(image), let frame = segments.frame, [1, 3].contains(frame.components) else {
            return nil
        }
        let xmp = segments.contents(of: 0xE1, GainMapXMP.signature).first.flatMap { GainMapXMP($0) }
        let iso = segments.contents(of: 0xE2, GainMapISO.signature).first.flatMap { GainMapISO($0) }
        guard xmp != nil || iso != nil else { return nil }
        self.init(
            file: segments.withoutMetadata,
            size: frame.size,
            isGrey: frame.components == 1,
            xmp: xmp,
            iso: iso,
            imageSize: imageSize,
            limits: limits
        )
    }
}
