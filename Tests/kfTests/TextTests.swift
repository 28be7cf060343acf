// The texts of the tool: control characters, JSON lines, units, the progress bar.

import Foundation
import Testing

@testable import kf

@Suite struct VisibleTextTests {
    @Test(
        "Control characters are spelled out, and all others stay",
        arguments: [
            ("plain ä 🦜\tx", "plain ä 🦜\tx"), ("\u{1B}[31mred", "\\u{1B}[31mred"), ("a\r\nb", "a\\u{D}\\u{A}b"),
            ("\u{0}\u{7F}\u{9B}2J", "\\u{0}\\u{7F}\\u{9B}2J"), ("\u{202E}gpj.exe\u{2066}", "\\u{202E}gpj.exe\\u{2066}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
        ]
    )
    func visible(text: String, shown: String) { #expect(text.visible == shown) }
}

@Suite struct JSONTests {
    @Test("Keys of an object keep their order") func keyOrder() {
        let value: JSON = ["z": .int(1), "a": .array([.bool(true), .null]), "m": .number(1.25)]
        #expect(value.description == #"{"z":1,"a":[true,null],"m":1.25}"#)
    }

    @Test(
        "Every string is one line of JSON and decodes to itself",
        arguments: [
            "plain", "\"quoted\" \\ back", "line\nbreak\r\t", "\u{0}\u{1F}\u{7F}", "\u{2028}\u{2029}", "ä 🦜 /",
            "\u{9B}31m\u{85}\u{202E}\u{2069}",
        ]
    )
    func strings(text: String) throws {
        let line = JSON.string(text).description
        #expect(line.visible == line)
        let read = try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)
        #expect(read as? String == text)
    }

    @Test("Numbers that JSON lacks are null") func numbers() {
        #expect(JSON.number(.infinity).description == "null")
        #expect(JSON.number(.nan).description == "null")
        #expect(JSON.number(3).description == "3")
        #expect(JSON.number(1e300).description == "1e+300")
        #expect(JSON.milliseconds(0.0123456789).description == "12.346")
    }
}

@Suite struct UnitsTests {
    @Test(
        "Bytes are written with a unit",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (20_149, "20.1 KB"), (999_960, "1.0 MB"),
            (3_400_000, "3.4 MB"),
            (5_000_000_000_000, "5.0 TB"),
        ]
    )
    func bytes(count: Int, text: String) { #expect(Units.bytes(count) == text) }

    @Test(
        "Durations are written with a unit",
        arguments: [(0.000_123, "0.12 ms"), (0.0351, "35.1 ms"), (1.2, "1.20 s")]
    )
    func durations(seconds: Double, text: String) { #expect(Units.seconds(seconds) == text) }

    @Test("Abbreviated texts keep both ends") func abbreviation() {
        let text = Units.abbreviated("data:image/png;base64," + String(repeating: "A", count: 500) + "END", to: 40)
        #expect(text.count == 40)
        #expect(text.hasPrefix("data:image"))
        #expect(text.hasSuffix("END"))
        #expect(Units.abbreviated("short", to: 40) == "short")
    }
}

@Suite struct ProgressBarTests {
    @Test("The received parts of running loads count") func runningLoads() {
        var bar = ProgressBar(total: 4)
        #expect(bar.fraction == 0)
        bar.record(0, received: 50, expected: 100)
        #expect(bar.fraction == 0.125)
        bar.end(0, failed: false)
        bar.end(1, failed: true)
        #expect(bar.fraction == 0.5)
        #expect(bar.line(width: 60) == "[" + bars(18, of: 37) + "] 2/4, 1 failed, 50 B")
    }

    @Test(
        "The time left is told once something can be said about it",
        arguments: [
            (1.0, 0, nil), (1.9, 2, nil), (2.0, 1, "6 s left"), (60.0, 1, "3 min left"), (7200.0, 2, "2.0 h left"),
            (9.0, 4, nil),
        ]
    )
    func timeLeft(elapsed: Double, finished: Int, words: String?) {
        var bar = ProgressBar(total: 4)
        bar.finished = finished
        bar.elapsed = elapsed
        let line = bar.line(width: 80)
        #expect(words.map { line.hasSuffix("] \(finished)/4, \($0)") } ?? !line.contains("left"), "\(line)")
    }

    @Test("A download of unknown length counts only at its end") func unknownLength() {
        var bar = ProgressBar(total: 2)
        bar.record(0, received: 1000, expected: -1)
        #expect(bar.fraction == 0)
        bar.end(0, failed: false)
        #expect(bar.fraction == 0.5)
        #expect(!bar.isComplete)
        bar.end(1, failed: false)
        #expect(bar.isComplete)
    }

    @Test("The bar never reaches the last column", arguments: 0...120)
    func lineWidth(width: Int) {
        var bar = ProgressBar(total: 1234)
        bar.record(0, received: 123_456_789, expected: 200_000_000)
        #expect(bar.line(width: width).count <= max(0, width - 1))
    }

    @Test("A bar of no loads is complete") func noLoads() {
        #expect(ProgressBar(total: 0).fraction == 1)
        #expect(ProgressBar(total: 0).isComplete)
    }

    private func bars(_ full: Int, of cells: Int) -> String {
        String(repeating: "#", count: full) + String(repeating: ".", count: cells - full)
    }
}
