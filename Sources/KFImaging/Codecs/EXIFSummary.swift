// What a camera has noted of an image, for people; `kf info` shows it.

package import Foundation

/// The camera, the date and the exposure of a photo.
package struct EXIFSummary: Sendable, Equatable {
    /// The maker and the model.
    package var camera: String?
    package var lens: String?
    /// As in `2026-11-26T07:15:00`, with `+01:00` where the time zone is known; nil for a text that is no date.
    package var date: String?
    /// The text of the date in the file, even if it is no date; nil for blanks and zeros, which mean that it is
    /// unknown.
    package var dateText: String?
    /// In seconds.
    package var exposureTime: Double?
    /// The focal length divided by the opening.
    package var aperture: Double?
    package var iso: Int?
    /// In millimetres.
    package var focalLength: Double?
    /// Whether there is a latitude or a longitude, even if it cannot be read: the file must not look safe to publish.
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
        // Each date has a time zone of its own.
        let notes = [(0x9003, details, 0x9011), (0x0132, main, 0x9010)].compactMap { tag, fields, zone in
            exif.text(tag, in: fields).map { (text: $0, zone: exif.text(zone, in: details)) }
        }.filter { Self.isKnown($0.text) }
        let dates = notes.compactMap { note in
            Self.date(note.text, zone: note.zone).map { (text: note.text, date: $0) }
        }
        (date, dateText) = (dates.first?.date, dates.first?.text ?? notes.first?.text)
        exposureTime = exif.ratio(0x829A, in: details)
        aperture = exif.ratio(0x829D, in: details)
        // 0 is unknown. 65,535 stands for more, which other fields have: the speed, the recommended exposure index and
        // the sensitivity of the output.
        let speeds = exif.integer(0x8827, in: details) == 65_535 ? [0x8833, 0x8832, 0x8831] : [0x8827]
        iso = speeds.lazy.compactMap { exif.integer($0, in: details) }.first { $0 > 0 }
        focalLength = exif.ratio(0x920A, in: details)
        // A latitude or a longitude, whatever it says.
        hasLocation = location.contains { [2, 4].contains($0.tag) }
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

    /// A time zone as in `+01:00`; nil for any other text.
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

    /// A ratio of two numbers that is no infinity, and not 0, which is unknown.
    fileprivate func ratio(_ tag: Int, in fields: [Field]) -> Double? {
        guard let field = fields.first(where: { $0.tag == tag }), field.type == 5, field.count > 0 else { return nil }
        let (part, divisor) = (number(of: field.value[..<4]), number(of: field.value[4..<8]))
        return part > 0 && divisor > 0 ? Double(part) / Double(divisor) : nil
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
