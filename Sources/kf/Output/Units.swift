// Amounts with their units, as people read them.

import Foundation
import KFSupport

/// Spells amounts for tables and lines on a terminal.
enum Units {
    /// `512 B`, `20.1 KB`, `3.4 MB`; a thousand bytes are a kilobyte.
    static func bytes(_ count: Int) -> String {
        var value = Double(count)
        guard value >= 1000 else { return "\(count) B" }
        for unit in ["KB", "MB", "GB"] {
            value /= 1000
            if value < 999.95 { return "\(fixed(value, digits: 1)) \(unit)" }
        }
        return "\(fixed(value / 1000, digits: 1)) TB"
    }

    /// The sum, limited to the largest integer, since sparse files may claim more.
    static func sum(_ counts: [Int]) -> Int {
        counts.reduce(0) { sum, count in
            let (total, isTooLarge) = sum.addingReportingOverflow(count)
            return isTooLarge ? .max : total
        }
    }

    /// The product, limited to the largest integer.
    static func product(_ one: Int, _ other: Int) -> Int {
        let (product, isTooLarge) = one.multipliedReportingOverflow(by: other)
        return isTooLarge ? .max : product
    }

    /// `0.12 ms`, `35.1 ms`, `1.20 s`.
    static func seconds(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.01: "\(fixed(seconds * 1000, digits: 2)) ms"
        case ..<1: "\(fixed(seconds * 1000, digits: 1)) ms"
        default: "\(fixed(seconds, digits: 2)) s"
        }
    }

    /// `45 s`, `12 min`, `3.5 h`: as exactly as an estimate deserves.
    static func timeLeft(_ seconds: Double) -> String {
        switch seconds {
        case ..<90: "\(fixed(seconds.rounded(.up), digits: 0)) s"
        case ..<5400: "\(fixed((seconds / 60).rounded(.up), digits: 0)) min"
        default: "\(fixed(seconds / 3600, digits: 1)) h"
        }
    }

    /// A text that fits on a line: long ones keep their beginning and their end.
    static func abbreviated(_ text: String, to limit: Int = 80) -> String {
        guard text.count > limit else { return text }
        let tail = limit / 3
        return "\(text.prefix(limit - tail - 1))…\(text.suffix(tail))"
    }

    /// A source for a line: short enough, and without secrets.
    static func source(_ text: String) -> String { abbreviated(Redaction.source(text)) }

    /// A number with exactly this many digits after the point.
    static func fixed(_ value: Double, digits: Int) -> String { String(format: "%.\(digits)f", value) }
}
