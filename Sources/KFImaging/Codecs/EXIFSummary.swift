// What a camera has noted of an image, for people; `kf info` shows it.

package import Foundation

/// The camera, the date and the exposure of a photo.
package struct EXIFSummary: Sendable, Equatable {
    /// The maker and the model.
    package var camera: String?
    package var lens: String?
    /// As in `2026-11-26T07:15:00`, with `+01:00` where the time zone is known; nil for what is no date.
    package var date: String?
    /// What is noted as the date, as it is, unless that is unknown: blanks or zeros.
    package var dateText: String?
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
        let texts = [exif.text(0x9003, in: details), exif.text(0x0132, in: main)].compactMap(\.self).filter(
            Self.isKnown
        )
        date = texts.lazy.compactMap { Self.date($0, zone: zone) }.first
        dateText = texts.first
        exposureTime = exif.ratio(0x829A, in: details)
        aperture = exif.ratio(0x829D, in: details)
        // 0 is unknown, and so is what does not fit into two bytes.
        iso = exif.integer(0x8827, in: details).flatMap { (1..<65_535).contains($0) ? $0 : nil }
        focalLength = exif.ratio(0x920A, in: details)
        hasLocation = exif.isPlace(latitude: 2, longitude: 4, in: location)
    }

    /// Whether a date is not left out: EXIF has blanks for what is unknown, and many cameras write zeros.
    private static func isKnown(_ text: String) -> Bool { text.contains { $0.isNumber && $0 != "0" } }

    private static func date(_ text: String, zone: String?) -> String? {
        guard let match = text.wholeMatch(of: #/(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)/#) else { return nil }
        let (_, year, month, day, hour, minute, second) = match.output
        var parts = DateComponents()
        (parts.year, parts.month, parts.day) = (Int(year), Int(month), Int(day))
        // There are leap seconds.
        guard let seconds = Int(second), (0...60).contains(seconds),
            parts.isValidDate(in: Calendar(identifier: .gregorian)),
            let hours = Int(hour), (0..<24).contains(hours), let minutes = Int(minute), (0..<60).contains(minutes)
        else { return nil }
        return "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)" + (zone.flatMap(offset) ?? "")
    }

    /// A time zone as in `+01:00`; nil for what is none.
    private static func offset(_ text: String) -> String? {
        guard let match = text.wholeMatch(of: #/[+-](\d\d):(\d\d)/#), let hours = Int(match.1),
            let minutes = Int(match.2),
            hours <= 15, minutes < 60
        else { return nil }
        return text
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
        let text = String(decoding: field.value.prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(in: .whitespaces)
        // Bytes of 0xFF are memory that a camera left uninitialized.
        return text.allSatisfy { $0 == "\u{FFFD}" } ? nil : text
    }

    fileprivate func integer(_ tag: Int, in fields: [Field]) -> Int? {
        guard let field = fields.first(where: { $0.tag == tag }), [3, 4].contains(field.type), field.count > 0 else {
            return nil
        }
        return number(of: field.value.prefix(field.type == 3 ? 2 : 4))
    }

    /// Whether there is a latitude, and no latitude or longitude that is not on Earth: degrees, minutes and seconds.
    fileprivate func isPlace(latitude: Int, longitude: Int, in fields: [Field]) -> Bool {
        [(latitude, 90.0), (longitude, 180.0)].allSatisfy { tag, most in
            if tag == longitude, !fields.contains(where: { $0.tag == tag }) { return true }
            guard let field = fields.first(where: { $0.tag == tag }), field.type == 5, field.count == 3,
                field.value.count >= 24
            else { return false }
            let parts = (0..<3).map { ratio(field.value[($0 * 8)..<($0 * 8 + 8)]) }
            guard let degrees = parts[0] else { return false }
            return degrees + (parts[1] ?? 0) / 60 + (parts[2] ?? 0) / 3_600 <= most
        }
    }

    /// A ratio of two numbers that is no infinity, and not 0, which is unknown.
    fileprivate func ratio(_ tag: Int, in fields: [Field]) -> Double? {
        guard let field = fields.first(where: { $0.tag == tag }), field.type == 5, field.count > 0 else { return nil }
        return ratio(field.value[..<8]).flatMap { $0 > 0 ? $0 : nil }
    }

    private func ratio(_ bytes: ArraySlice<UInt8>) -> Double? {
        let divisor = number(of: bytes.dropFirst(4))
        return divisor > 0 ? Double(number(of: bytes.prefix(4))) / Double(divisor) : nil
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
