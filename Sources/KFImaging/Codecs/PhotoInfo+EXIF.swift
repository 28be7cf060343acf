// Reads the notes of a camera from an EXIF block; every field of the block is checked.

public import Foundation

extension PhotoInfo {
    /// Reads the EXIF block of a JPEG, PNG, WebP or AVIF; nil where there is none, or none that can be read.
    ///
    /// No pixels are decoded. It blocks the thread for the time that finding the block takes, with decoder processes
    /// until one has answered.
    ///
    /// - Parameters:
    ///   - data: The encoded bytes.
    ///   - readingLocation: Whether ``location`` is wanted; without it, the value may be logged and stored.
    ///   - limits: Where the bytes are looked at.
    /// - Throws: ``ImagingError`` for bytes of no format that is read here, and where no decoder can be had.
    public init?(
        data: Data,
        readingLocation: Bool = false,
        limits: ImageDecodingLimits = .default
    ) throws(ImagingError) {
        guard let block = try Codecs.exif(of: data, Codecs.codec(for: data), limits) else { return nil }
        self.init(exif: block, readingLocation: readingLocation)
    }

    /// Nil for bytes that are no EXIF block.
    package init?(exif block: Data, readingLocation: Bool = false) {
        guard let exif = EXIFCopy(block) else { return nil }
        let (main, details, place) = exif.directories
        // A latitude or a longitude, whatever it says.
        hasLocation = place.contains { [2, 4].contains($0.tag) }
        if readingLocation { location = exif.location(in: place) }
        orientation = exif.integer(0x0112, in: main).flatMap(Orientation.init(exif:))
        let (maker, model) = (exif.text(0x010F, in: main), exif.text(0x0110, in: main))
        // Many models begin with their maker.
        let isNamed = maker.flatMap { maker in model?.lowercased().hasPrefix(maker.lowercased()) } ?? false
        camera = isNamed ? model : [maker, model].compactMap(\.self).joined(separator: " ").nonEmpty
        lens = exif.text(0xA434, in: details)
        exposureTime = exif.ratio(0x829A, in: details)
        aperture = exif.ratio(0x829D, in: details)
        // 0 is unknown. 65,535 stands for more, which other fields have: the speed, the recommended exposure index and
        // the sensitivity of the output.
        let speeds = exif.integer(0x8827, in: details) == 65_535 ? [0x8833, 0x8832, 0x8831] : [0x8827]
        iso = speeds.lazy.compactMap { exif.integer($0, in: details) }.first { $0 > 0 }
        focalLength = exif.ratio(0x920A, in: details)
        // Each date has a time zone of its own.
        let notes = [(0x9003, details, 0x9011), (0x0132, main, 0x9010)].compactMap { tag, fields, zone in
            exif.text(tag, in: fields).map { (text: $0, zone: exif.text(zone, in: details)) }
        }.filter { Self.isKnown($0.text) }
        let dates = notes.compactMap { note in
            Self.date(note.text, zone: note.zone).map { (text: note.text, date: $0) }
        }
        (date, dateText) = (dates.first?.date, dates.first?.text ?? notes.first?.text)
    }

    /// Whether a date is not left out: EXIF has blanks for what is unknown, and many cameras write zeros.
    private static func isKnown(_ text: String) -> Bool { text.contains { $0.isNumber && $0 != "0" } }

    private static func date(_ text: String, zone: String?) -> DateComponents? {
        guard let match = text.wholeMatch(of: #/(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)/#) else { return nil }
        let (_, year, month, day, hour, minute, second) = match.output
        var date = DateComponents()
        (date.year, date.month, date.day) = (Int(year), Int(month), Int(day))
        // There are leap seconds.
        guard let seconds = Int(second), (0...60).contains(seconds),
            date.isValidDate(in: Calendar(identifier: .gregorian)),
            let hours = Int(hour), (0..<24).contains(hours), let minutes = Int(minute), (0..<60).contains(minutes)
        else { return nil }
        (date.hour, date.minute, date.second) = (hours, minutes, seconds)
        date.timeZone = zone.flatMap(Self.zone)
        return date
    }

    /// A time zone as in `+01:00`; nil for what is none.
    private static func zone(_ text: String) -> TimeZone? {
        guard let match = text.wholeMatch(of: #/([+-])(\d\d):(\d\d)/#), let hours = Int(match.2),
            let minutes = Int(match.3), hours <= 15, minutes < 60
        else { return nil }
        let seconds = (hours * 60 + minutes) * 60
        return TimeZone(secondsFromGMT: match.1 == "-" ? -seconds : seconds)
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
        ratios(tag, in: fields)?.first.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The ratios of a field; nil where one of them divides by 0.
    private func ratios(_ tag: Int, in fields: [Field]) -> [Double]? {
        guard let field = fields.first(where: { $0.tag == tag }), field.type == 5, field.count > 0 else { return nil }
        let ratios = (0..<min(field.count, 3)).map { index in
            let bytes = field.value[(8 * index)...]
            return Double(number(of: bytes.prefix(4))) / Double(number(of: bytes.dropFirst(4).prefix(4)))
        }
        return ratios.allSatisfy(\.isFinite) ? ratios : nil
    }

    /// The place that fields for latitude, longitude and altitude say; nil where it is none of the Earth's.
    fileprivate func location(in fields: [Field]) -> PhotoInfo.Location? {
        func degrees(_ tag: Int, _ negative: String, _ positive: String, most: Double) -> Double? {
            guard let parts = ratios(tag, in: fields), let side = text(tag - 1, in: fields)?.uppercased() else {
                return nil
            }
            // Degrees, minutes and seconds.
            let degrees = zip(parts, [1, 60, 3600]).reduce(0) { $0 + $1.0 / $1.1 }
            guard degrees <= most, side == negative || side == positive else { return nil }
            return side == negative ? -degrees : degrees
        }
        guard let latitude = degrees(2, "S", "N", most: 90), let longitude = degrees(4, "W", "E", most: 180) else {
            return nil
        }
        let isBelowSea = fields.first { $0.tag == 5 }?.value.first == 1
        let altitude = ratios(6, in: fields)?.first.map { isBelowSea ? -$0 : $0 }
        return PhotoInfo.Location(latitude: latitude, longitude: longitude, altitude: altitude)
    }
}

extension String {
    fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
