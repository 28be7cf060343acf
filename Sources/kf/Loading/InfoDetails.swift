// What `kf info` shows on request: the camera's notes, and the colours.

import ArgumentParser
import Foundation
import KFImaging
import Kingfisher

/// The options for what is shown besides the header.
struct InfoDetailArguments: ParsableArguments {
    @Flag(
        help: "Show the camera, the date, the exposure, and whether a location is noted: of JPEG, PNG, WebP and AVIF."
    )
    var exif = false

    @Flag(help: "Show the five colours that stand for the image, and how much of it each takes; decodes it, small.")
    var colors = false

    /// Reads the details that are asked for.
    func details(of data: Data) async throws(Failure) -> InfoDetails {
        var details = InfoDetails()
        if exif { details.exif = .some(Codecs.exif(of: data).flatMap { PhotoInfo(exif: $0) }) }
        if colors {
            let small = DownsamplingImageProcessor(size: CGSize(width: 200, height: 200))
            details.colors = try await ImageBytes.image(data, small, isStill: true).dominantColors(5)
        }
        return details
    }
}

/// Parts of the description of an image; nil for a part that was not asked for.
struct InfoDetails: Sendable {
    /// Nil within for an image without EXIF data.
    var exif: PhotoInfo??
    var colors: [DominantColor]?

    /// The lines for people, each with its title.
    var lines: [(String, String)] {
        var lines: [(String, String)] = []
        if let exif {
            let notes = [
                ("camera", exif?.camera), ("lens", exif?.lens),
                ("taken", exif?.isoDate?.replacingOccurrences(of: "T", with: " ") ?? exif?.dateText),
                ("exposure", exif?.exposure),
            ]
            lines += notes.compactMap { title, text in text.map { (title, $0) } }
            lines.append(exif.map { ("location", $0.hasLocation ? "noted" : "none") } ?? ("EXIF", "none"))
        }
        for (index, color) in (colors ?? []).enumerated() {
            lines.append((index == 0 ? "colours" : "", "\(color.hex) \(Units.fixed(color.share * 100, digits: 1)) %"))
        }
        return lines
    }

    /// The members for scripts.
    var members: [JSON.Member] {
        var members: [JSON.Member] = []
        if let exif { members.append(JSON.Member(key: "exif", value: .optional(exif, \.json))) }
        if let colors {
            let values = colors.map { color -> JSON in
                ["color": .string(color.hex), "share": .number((color.share * 1e4).rounded() / 1e4)]
            }
            members.append(JSON.Member(key: "colors", value: .array(values)))
        }
        return members
    }
}

extension DominantColor {
    fileprivate var hex: String { "#" + String(format: "%06x", color) }
}

extension PhotoInfo {
    /// As photographers write it; nil when nothing of it is noted.
    fileprivate var exposure: String? {
        let time = exposureTime.map { $0 > 0 && $0 <= 0.25 ? "1/\(Int((1 / $0).rounded())) s" : "\(Self.short($0)) s" }
        let parts = [
            time, aperture.map { "f/\(Self.short($0))" }, iso.map { "ISO \($0)" },
            focalLength.map { "\(Self.short($0)) mm" },
        ]
        let text = parts.compactMap(\.self).joined(separator: ", ")
        return text.isEmpty ? nil : text
    }

    fileprivate var json: JSON {
        [
            "camera": .optional(camera, JSON.string),
            "lens": .optional(lens, JSON.string),
            "date": .optional(isoDate, JSON.string),
            "dateText": .optional(dateText, JSON.string),
            "exposureTime": .optional(exposureTime, JSON.number),
            "aperture": .optional(aperture, JSON.number),
            "iso": .optional(iso, JSON.int),
            "focalLength": .optional(focalLength, JSON.number),
            "location": .bool(hasLocation),
        ]
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && number < 1e9 ? "\(Int(number))" : Units.fixed(number, digits: 1)
    }
}
