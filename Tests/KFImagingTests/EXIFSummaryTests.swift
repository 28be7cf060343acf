// What is told of a photo: values that cannot be are not told.

import Foundation
import KFImaging
import Testing

@Suite struct EXIFSummaryTests {
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

    /// A block with a directory for the image, one for details and one for the place.
    private static func summary(_ details: [Field], place: [Field] = []) throws -> EXIFSummary {
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
        let (main, other) = (8, 38)
        let rest = directory(details, at: other)
        let pointers: [Field] = [(0x8769, 4, 1, number(other, 4)), (0x8825, 4, 1, number(other + rest.count, 4))]
        var block = Array("MM".utf8) + number(42, 2) + number(main, 4) + directory(pointers, at: main)
        #expect(block.count == other)
        block += rest + directory(place, at: other + rest.count)
        return try #require(EXIFSummary(Data(block)))
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
        #expect(summary.date == date)
        #expect(summary.dateText == (isTold ? text.trimmingCharacters(in: .whitespaces) : nil))
    }

    @Test("A time zone is one of the Earth's", arguments: [("+02:00", "+02:00"), ("+99:99", ""), ("   :  ", "")])
    func zone(text: String, shown: String) throws {
        let summary = try Self.summary([Self.text(0x9003, "2024:05:06 07:08:09"), Self.text(0x9011, text)])
        #expect(summary.date == "2024-05-06T07:08:09" + shown)
    }

    @Test("Numbers that stand for nothing, and texts of bytes that nobody wrote, are not told") func unknown() throws {
        let summary = try Self.summary([
            Self.ratios(0x829A, (0, 0)), Self.ratios(0x829D, (0, 1)), Self.short(0x8827, 0),
            Self.ratios(0x920A, (5, 0)),
            Self.text(0xA434, [UInt8](repeating: 0xFF, count: 20)),
        ])
        #expect(summary.exposureTime == nil && summary.aperture == nil && summary.iso == nil)
        #expect(summary.focalLength == nil && summary.lens == nil)
        #expect(try Self.summary([Self.short(0x8827, 65_535)]).iso == nil)
        #expect(try Self.summary([Self.short(0x8827, 100)]).iso == 100)
    }

    @Test("A place is one on Earth") func place() throws {
        let degrees = { (latitude: Int, longitude: Int) throws -> Bool in
            try Self.summary(
                [],
                place: [
                    Self.ratios(2, (latitude, 1), (30, 1), (0, 1)), Self.ratios(4, (longitude, 1), (0, 1), (0, 0)),
                ]
            ).hasLocation
        }
        #expect(try degrees(52, 13))
        #expect(try !degrees(95, 13))
        #expect(try !degrees(52, 181))
        #expect(try !Self.summary([], place: [Self.ratios(2, (0, 0), (0, 0), (0, 0))]).hasLocation)
    }
}
