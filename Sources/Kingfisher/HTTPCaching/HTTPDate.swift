// The dates in the fields of HTTP. For the metadata of cached responses, and the server.

public import Foundation

/// The dates of HTTP, in the current form and the two obsolete ones (RFC 9110, section 5.6.7).
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The instant that a field's value stands for; nil if it is not a date.
    static func date(from text: String) -> Date? {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and "Sun Nov  6 08:49:37 1994" all fall
        // into a name, two or three parts of a day, and a time; the form follows from their number and order.
        var parts = text.split { $0 == " " || $0 == "," || $0 == "-" }
        if parts.count == 6, parts[5] == "GMT" || parts[5] == "UTC" {
            parts.removeLast()
        } else if parts.count == 5, Int(parts[1]) == nil {
            parts = [parts[0], parts[2], parts[1], parts[4], parts[3]]
        } else {
            return nil
        }
        guard let day = Int(parts[1]), let month = months.firstIndex(where: { $0 == parts[2] }),
            var year = Int(parts[3])
        else {
            return nil
        }
        if parts[3].count == 2 { year += year < 70 ? 2_000 : 1_900 }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard (1...31).contains(day), (1_601...9_999).contains(year), clock.count == 3, (0...23).contains(clock[0]),
            (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let seconds = clock[0] * 3_600 + clock[1] * 60 + clock[2]
        return Date(timeIntervalSince1970: TimeInterval(daysSince1970(year, month + 1, day) * 86_400 + seconds))
    }

    /// The field's value for an instant, in whole seconds.
    static func text(of date: Date) -> String {
        var (time, parts) = (time_t(max(-1e11, min(date.timeIntervalSince1970, 1e11)).rounded(.down)), tm())
        gmtime_r(&time, &parts)
        func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        return
            "\(day), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(1900 + Int(parts.tm_year)) \(clock) GMT"
    }

    /// Days of the Gregorian calendar, counted in years that begin in March, so that a leap day ends one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (century, yearOfCentury) = (year / 400, year % 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfCentury = yearOfCentury * 365 + yearOfCentury / 4 - yearOfCentury / 100 + dayOfYear
        return century * 146_097 + dayOfCentury - 719_468
    }
}

/// The instant that the value of a field of HTTP stands for; nil if it is not a date.
@_spi(Server) public func dateOfHTTP(_ text: String) -> Date? { HTTPDate.date(from: text) }

/// The value of a field of HTTP for an instant.
@_spi(Server) public func textOfHTTP(_ date: Date) -> String { HTTPDate.text(of: date) }
