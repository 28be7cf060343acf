// What PhotoInfo reads from a photo; impossible values are nil.

import Foundation
import KFImaging
import KingfisherTestSupport
import Testing

@Suite struct PhotoInfoTests {
    /// A field: its tag and type, the number of its values, and their bytes in big endian.
    private typealias Field = (tag: Int, type: Int, count: Int, value: [UInt8])

    private static func number(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    private static func text(_ tag: Int, _ bytes: [UInt8]) -> Field { (tag, 2, bytes.count + 1, bytes + [0]) }
    private static func text(_ tag: Int, _ text: String) -> Field { self.text(tag, Array(text.utf8)) }
    private static func ratios(_ tag: Int, _ values: (Int, Int)...) -> Field {
        (tag, 5, values.count, values.flatMap { number($0.0, 4) + number($0.1, 4) })
    }
    private static func short(_ tag: Int, _ value: Int) -> Field { (tag, 3, 1, number(value, 2)) }
    private static func long(_ tag: Int, _ value: Int) -> Field { (tag, 4, 1, number(value, 4)) }

    /// A block with a directory for the image, one for details and one for the place.
    private static func block(_ details: [Field], main: [Field] = [], place: [Field] = []) -> Data {
        func directory(_ fields: [Field], at start: Int) -> [UInt8] {
            var (entries, values) = (number(fields.count, 2), [UInt8]())
            for field in fields {
                entries += number(field.tag, 2) + number(field.type, 2) + number(field.count, 4)
                if field.value.count > 4 {
                    entries += number(start + 6 + 12 * fields.count + values.count, 4)
                    values += field.value
                } else {
                    entries += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
                }
            }
            return entries + number(0, 4) + values
        }
        let first = 8
        func image(_ other: Int, _ last: Int) -> [UInt8] {
            directory(main + [long(0x8769, other), long(0x8825, last)], at: first)
        }
        let other = first + image(0, 0).count
        let rest = directory(details, at: other)
        let last = other + rest.count
        let block = Array("MM".utf8) + number(42, 2) + number(first, 4) + image(other, last) + rest
        return Data(block + directory(place, at: last))
    }

    private static func summary(_ details: [Field], main: [Field] = [], place: [Field] = []) throws -> PhotoInfo {
        try #require(PhotoInfo(exif: block(details, main: main, place: place), readingLocation: true))
    }

    @Test(
        "A date is one of the calendar and the clock; other texts stay readable beside it, unknown ones are none",
        arguments: [
            ("2024:02:29 23:59:60", "2024-02-29T23:59:60", true), ("2023:02:29 10:00:00", nil, true),
            ("2024:13:45 99:99:99", nil, true), ("2024:01:01 24:00:00", nil, true), ("0000:00:00 00:00:00", nil, false),
            ("    :  :     :  :  ", nil, false), ("yesterday at 5", nil, true),
        ] as [(String, String?, Bool)]
    )
    func date(text: String, date: String?, isTold: Bool) throws {
        let summary = try Self.summary([Self.text(0x9003, text)])
        #expect(summary.isoDate == date)
        #expect(summary.dateText == (isTold ? text.trimmingCharacters(in: .whitespaces) : nil))
    }

    @Test("A time zone is one of the Earth's", arguments: [("+02:00", "+02:00"), ("+99:99", ""), ("   :  ", "")])
    func zone(text: String, shown: String) throws {
        let summary = try Self.summary([Self.text(0x9003, "2024:05:06 07:08:09"), Self.text(0x9011, text)])
        #expect(summary.isoDate == "2024-05-06T07:08:09" + shown)
    }

    @Test("A date has its own time zone; the text is that of the date, or of the first note that says something")
    func dates() throws {
        let (original, changed) = ("2024:05:06 07:08:09", "2025:01:02 03:04:05")
        let zones = [Self.text(0x9011, "+02:00"), Self.text(0x9010, "-08:00")]
        let both = try Self.summary([Self.text(0x9003, original)] + zones, main: [Self.text(0x0132, changed)])
        #expect(both.isoDate == "2024-05-06T07:08:09+02:00" && both.dateText == original)
        let one = try Self.summary(zones, main: [Self.text(0x0132, changed)])
        #expect(one.isoDate == "2025-01-02T03:04:05-08:00" && one.dateText == changed)
        let wrong = try Self.summary([Self.text(0x9003, "in May 2024")] + zones, main: [Self.text(0x0132, changed)])
        #expect(wrong.isoDate == "2025-01-02T03:04:05-08:00" && wrong.dateText == changed)
        let none = try Self.summary([Self.text(0x9003, "in May 2024")] + zones, main: [Self.text(0x0132, "1 2 3")])
        #expect(none.isoDate == nil && none.dateText == "in May 2024")
    }

    @Test("A ratio with a divisor of 0, an ISO of 0 and a text of 0xFF bytes are nil") func unknown() throws {
        let summary = try Self.summary([
            Self.ratios(0x829A, (0, 0)), Self.ratios(0x829D, (0, 1)), Self.short(0x8827, 0),
            Self.ratios(0x920A, (5, 0)),
            Self.text(0xA434, [UInt8](repeating: 0xFF, count: 20)),
        ])
        #expect(summary.exposureTime == nil && summary.aperture == nil && summary.iso == nil)
        #expect(summary.focalLength == nil && summary.lens == nil)
    }

    @Test("An ISO of 65,535 says that it is more, which other fields say")
    func iso() throws {
        func iso(_ fields: Field...) throws -> Int? { try Self.summary(fields).iso }
        #expect(try iso(Self.short(0x8827, 100)) == 100)
        #expect(try iso(Self.long(0x8827, 102_400)) == 102_400)
        #expect(try iso(Self.short(0x8827, 65_535)) == nil)
        let more = [0x8831, 0x8832, 0x8833].enumerated().map { Self.long($1, 102_400 << $0) }
        #expect(try iso(Self.short(0x8827, 65_535), more[0]) == 102_400)
        #expect(try iso(Self.short(0x8827, 65_535), more[0], more[1]) == 204_800)
        #expect(try iso(Self.short(0x8827, 65_535), more[0], more[1], more[2]) == 409_600)
        #expect(try iso(Self.short(0x8827, 200), more[0]) == 200)
        #expect(try iso(Self.short(0x8827, 65_535), Self.long(0x8833, 0)) == nil)
    }

    @Test("The moment is known where the time zone is; the components are the camera's clock")
    func moment() throws {
        let date = Self.text(0x9003, "2024:05:06 07:08:09")
        let known = try Self.summary([date, Self.text(0x9011, "+02:00")])
        #expect(known.moment == Date(timeIntervalSince1970: 1_714_972_089))
        #expect(known.date?.hour == 7 && known.date?.timeZone?.secondsFromGMT() == 7200)
        let unknown = try Self.summary([date])
        #expect(unknown.moment == nil && unknown.date?.hour == 7 && unknown.date?.timeZone == nil)
        #expect(
            try Self.summary([Self.text(0x9003, "2016:12:31 23:59:60"), Self.text(0x9011, "+00:00")]).moment != nil
        )
    }

    @Test("A place is in degrees and metres; one that is not on the Earth, or has no side, is none")
    func location() throws {
        func location(_ fields: Field...) throws -> PhotoInfo.Location? {
            let photo = try Self.summary([], place: fields)
            #expect(photo.hasLocation)
            return photo.location
        }
        let (north, east) = (Self.text(1, "N"), Self.text(3, "E"))
        let (latitude, longitude) = (Self.ratios(2, (52, 1), (30, 1), (36, 1)), Self.ratios(4, (13, 1), (2475, 100)))
        let place = try #require(try location(north, latitude, east, longitude))
        #expect(abs(place.latitude - 52.51) < 1e-9 && abs(place.longitude - 13.4125) < 1e-9 && place.altitude == nil)
        let below: Field = (5, 1, 1, [1])
        let other = try location(
            Self.text(1, "S"),
            latitude,
            Self.text(3, "W"),
            longitude,
            below,
            Self.ratios(6, (7, 2))
        )
        #expect(other?.latitude == -place.latitude && other?.longitude == -place.longitude && other?.altitude == -3.5)
        #expect(try location(latitude, east, longitude) == nil)
        #expect(try location(north, Self.ratios(2, (90, 1), (1, 1)), east, longitude) == nil)
        #expect(try location(north, latitude, east, Self.ratios(4, (13, 0))) == nil)
        #expect(try location(Self.text(1, "Q"), latitude, east, longitude) == nil)
        let most = (Int(UInt32.max), Int(UInt32.max))
        #expect(try location(north, Self.ratios(2, most, most, most), east, longitude) != nil)
    }

    @Test("A photo's notes come from its file; its place only if it is asked for; other bytes say why there are none")
    func file() throws {
        let tags = Self.block(
            [Self.text(0xA434, "50 mm")],
            main: [Self.short(0x0112, 6)],
            place: [
                Self.text(1, "N"), Self.ratios(2, (1, 1)), Self.text(3, "E"), Self.ratios(4, (2, 1)),
            ]
        )
        var options = ImageEncodingOptions()
        options.metadata.exif = tags
        let data = try Codecs.encode(Image(cgImage: .solid(0xFFFF_0000, 8, 8)), as: .jpeg, options)
        let photo = try #require(try PhotoInfo(data: data))
        #expect(photo.lens == "50 mm" && photo.orientation == .right && photo.hasLocation && photo.location == nil)
        let asked = try PhotoInfo(data: data, readingLocation: true)
        #expect(asked?.location == PhotoInfo.Location(latitude: 1, longitude: 2))
        #expect(
            try PhotoInfo(data: #require(Image(cgImage: .solid(0xFFFF_0000, 8, 8)).jpegData(compressionQuality: 1)))
                == nil
        )
        #expect(throws: ImagingError.emptyData) { try PhotoInfo(data: Data()) }
        let coded = try JSONDecoder().decode(PhotoInfo.self, from: JSONEncoder().encode(photo))
        #expect(coded == photo)
    }

    @Test("Blocks that are cut or damaged anywhere are read without a trap")
    func damaged() {
        let block = Self.block(
            [Self.text(0x9003, "2024:05:06 07:08:09"), Self.ratios(0x829A, (1, 250))],
            main: [Self.short(0x0112, 6)],
            place: [Self.text(1, "N"), Self.ratios(2, (52, 1), (30, 1)), Self.text(3, "E"), Self.ratios(4, (13, 1))]
        )
        var random = SeededGenerator(state: 7)
        for count in 0..<block.count { _ = PhotoInfo(exif: block.prefix(count), readingLocation: true) }
        for _ in 0..<5_000 {
            var bytes = block
            for _ in 0..<4 {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = PhotoInfo(exif: bytes, readingLocation: true).map { ($0.moment, $0.isoDate) }
        }
    }

    @Test("Any latitude or longitude is a location, whatever it says: nobody must take the file for one without")
    func place() throws {
        func hasLocation(_ place: Field...) throws -> Bool { try Self.summary([], place: place).hasLocation }
        let latitude = Self.ratios(2, (52, 1), (30, 1), (0, 1))
        #expect(try hasLocation(latitude, Self.ratios(4, (13, 1), (0, 1), (0, 0))))
        #expect(try hasLocation(latitude, Self.ratios(4, (181, 1), (0, 1), (0, 1))))
        #expect(try hasLocation(latitude) && hasLocation(Self.ratios(4, (13, 1), (0, 1), (0, 1))))
        #expect(try hasLocation(Self.ratios(2, (52, 1), (30, 1))) && hasLocation(Self.ratios(2, (0, 0))))
        // Signed ratios, and a text.
        #expect(try hasLocation((2, 10, 3, latitude.value)) && hasLocation(Self.text(2, "52.5")))
        #expect(try !hasLocation() && !hasLocation(Self.ratios(6, (34, 1))))
    }
}
