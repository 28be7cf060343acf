// What a camera has noted of an image, for people; `kf info` shows it.

package import Foundation

/// The camera, the date and the exposure of a photo.
package struct EXIFSummary: Sendable, Equatable {
    /// The maker and the model.
    package var camera: String?
    package var lens: String?
    /// As in `2026-11-26T07:15:00`, with `+01:00` where the time zone is known; another text as it is.
    package var date: String?
    /// In seconds.
    package var exposureTime: Double?
    /// The focal length divided by the opening.
    package var aperture: Double?
    package var iso: Int?
    /// In millimetres.
    package var focalLength: Double?
    /// Whether a place on Earth is noted.
    package var hasLocation: Bool

    /// Nil for bytes that are no EXIF block.
    package init?(_ block: Data) {
        guard let exif = EXIFCopy(block) else { return nil }
        let (main, details, location) = exif.directories
        let (maker, model) = (exif.text(0x010F, in: main), exif.text(0x0110, in: main))
        // Many models begin with their maker.
        let isNamed = maker.flatMap { maker in model?.lowercased().hasPrefix(maker.lowercased()) } ?? false
        camera = isNamed ? model : [maker, model].compactMap(\.self).joined(separator: " ").nonEmpty
        lens = exif.text(0xA434, in: details)
        let zone = exif.text(0x9011, in: details)
        date = (exif.text(0x9003, in: details) ?? exif.text(0x0132, in: main)).map { Self.date($0, zone: zone) }
        exposureTime = exif.ratio(0x829A, in: details)
        aperture = exif.ratio(0x829D, in: details)
        iso = exif.integer(0x8827, in: details)
        focalLength = exif.ratio(0x920A, in: details)
        // The latitude.
        hasLocation = location.contains { $0.tag == 2 }
    }

    private static func date(_ text: String, zone: String?) -> String {
        guard let match = text.wholeMatch(of: #/(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/#) else { return text }
        let (_, year, month, day, time) = match.output
        return "\(year)-\(month)-\(day)T\(time)" + (zone?.wholeMatch(of: #/[+-]\d\d:\d\d/#) != nil ? zone ?? "" : "")
    }
}

extension EXIFCopy {
    fileprivate var directories: (main: [Field], details: [Field], location: [Field]) {
        let main = number(4, 4).map(allFields) ?? []
        func part(_ tag: Int) -> [Field] { pointer(tag, among: main).map(allFields) ?? [] }
        return (main, part(Self.details), part(Self.location))
    }

    fileprivate func text(_ tag: Int, in fields: [Field]) -> String? {
        guard let field = fields.first(where: { $0.tag == tag }), field.type == 2 else { return nil }
        return String(decoding: field.value.prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            .nonEmpty
    }

    fileprivate func integer(_ tag: Int, in fields: [Field]) -> Int? {
        guard let field = fields.first(where: { $0.tag == tag }), [3, 4].contains(field.type), field.count > 0 else {
            return nil
        }
        return number(of: field.value.prefix(field.type == 3 ? 2 : 4))
    }

    /// A ratio of two numbers that is no infinity.
    fileprivate func ratio(_ tag: Int, in fields: [Field]) -> Double? {
        guard let field = fields.first(where: { $0.tag == tag }), field.type == 5, field.count > 0 else { return nil }
        let divisor = number(of: field.value[4..<8])
        return divisor > 0 ? Double(number(of: field.value[..<4])) / Double(divisor) : nil
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
