// The facts about an upload as JSON: for databases, `kf variants` and the image server.

import Foundation
import KFImaging

extension UploadFacts: Encodable {
    private enum Key: String, CodingKey {
        case format, width, height, orientation, frames, duration, loopCount, alpha, colorProfile, bytes, exif, colors
        case blurHash, thumbHash, perceptualHash, damaged
    }

    private enum PhotoKey: String, CodingKey {
        case camera, lens, date, exposureTime, aperture, iso, focalLength, location
    }

    private enum ColorKey: String, CodingKey {
        case color, share
    }

    /// Writes an object that has all keys; what is not known is null.
    ///
    /// They are `format`, in small letters; `width` and `height`, in pixels as they are displayed; `orientation`, the
    /// number of EXIF; `frames`; `duration`, in seconds; `loopCount`, 0 being endless; `alpha`; `colorProfile`, its
    /// name; `bytes`; `exif`; `colors`, objects with `color`, such as `#ff8000`, and `share`; `blurHash`; `thumbHash`,
    /// in Base64; `perceptualHash`, 16 hexadecimal digits; `damaged`.
    ///
    /// Those of `exif` are `camera`; `lens`; `date`, such as `2026-11-26T07:15:00+01:00`; `exposureTime`, in seconds;
    /// `aperture`; `iso`; `focalLength`, in millimetres; and
    /// `location`: where it was read the place, otherwise whether one is noted.
    ///
    /// - Parameter encoder: Such as a `JSONEncoder`.
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var facts = encoder.container(keyedBy: Key.self)
        try facts.encode(info.contentType.name.lowercased(), forKey: .format)
        try facts.encode(displayedWidth, forKey: .width)
        try facts.encode(displayedHeight, forKey: .height)
        try facts.encode(info.orientation.exif, forKey: .orientation)
        try facts.encode(info.frameCount, forKey: .frames)
        try facts.encode(info.duration.map { ($0 * 1e6).rounded() / 1e6 }, forKey: .duration)
        try facts.encode(info.loopCount, forKey: .loopCount)
        try facts.encode(info.hasAlpha, forKey: .alpha)
        try facts.encode(info.colorProfileName, forKey: .colorProfile)
        try facts.encode(info.byteCount, forKey: .bytes)
        if let photo {
            var notes = facts.nestedContainer(keyedBy: PhotoKey.self, forKey: .exif)
            try Self.encode(photo, into: &notes)
        } else {
            try facts.encodeNil(forKey: .exif)
        }
        var list = facts.nestedUnkeyedContainer(forKey: .colors)
        for color in colors {
            var entry = list.nestedContainer(keyedBy: ColorKey.self)
            try entry.encode(color.color.hexText, forKey: .color)
            try entry.encode((color.share * 1e4).rounded() / 1e4, forKey: .share)
        }
        try facts.encode(blurHash, forKey: .blurHash)
        try facts.encode(thumbHash?.base64EncodedString(), forKey: .thumbHash)
        try facts.encode(perceptualHash?.description, forKey: .perceptualHash)
        try facts.encode(isDamaged, forKey: .damaged)
    }

    private static func encode(_ photo: PhotoInfo, into notes: inout KeyedEncodingContainer<PhotoKey>) throws {
        try notes.encode(photo.camera, forKey: .camera)
        try notes.encode(photo.lens, forKey: .lens)
        try notes.encode(photo.isoDate, forKey: .date)
        try notes.encode(photo.exposureTime, forKey: .exposureTime)
        try notes.encode(photo.aperture, forKey: .aperture)
        try notes.encode(photo.iso, forKey: .iso)
        try notes.encode(photo.focalLength, forKey: .focalLength)
        if let location = photo.location {
            try notes.encode(location, forKey: .location)
        } else {
            try notes.encode(photo.hasLocation, forKey: .location)
        }
    }
}
