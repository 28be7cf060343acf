// What a camera has noted of an image: for galleries, and for programs that publish what others have taken.

public import Foundation

/// The notes of a camera in an image: what took it, when, how, and whether it says where.
///
/// ```swift
/// if let photo = try PhotoInfo(data: upload) {
///     print(photo.camera ?? "?", photo.moment ?? "at an unknown moment", photo.hasLocation)
/// }
/// ```
public struct PhotoInfo: Sendable, Hashable, Codable {
    /// The maker and the model of the camera, without repeating a maker that the model begins with.
    public var camera: String?
    /// The model of the lens.
    public var lens: String?
    /// The date and time on the camera's clock, in the Gregorian calendar, when the image was taken, or else changed.
    ///
    /// `timeZone` is the clock's where the file says it, and nil otherwise: then the moment is not known. Dates that
    /// are none are nil.
    public var date: DateComponents?
    /// How long the sensor was exposed, in seconds.
    public var exposureTime: TimeInterval?
    /// The focal length divided by the opening: 2.8 for f/2.8.
    public var aperture: Double?
    /// The sensitivity by ISO 12232.
    public var iso: Int?
    /// The focal length in millimetres.
    public var focalLength: Double?
    /// How the camera was held; ``ImageInfo/orientation`` is the one by which the image is turned.
    public var orientation: Orientation?
    /// Whether there is a latitude or a longitude, even one that cannot be read: the file must not look safe.
    public var hasLocation: Bool
    /// Where the image was taken; nil unless it was asked for, and where it makes no sense.
    public var location: Location?
    /// The text of the date in the file, also of what is no date; nil for blanks and zeros, which are unknown.
    package var dateText: String?

    /// A place on the Earth.
    public struct Location: Sendable, Hashable, Codable {
        /// Degrees north of the equator, -90…90.
        public var latitude: Double
        /// Degrees east of Greenwich, -180…180.
        public var longitude: Double
        /// Metres above sea level, negative below it.
        public var altitude: Double?

        /// Creates a place.
        ///
        /// - Parameters:
        ///   - latitude: Degrees north of the equator.
        ///   - longitude: Degrees east of Greenwich.
        ///   - altitude: Metres above sea level.
        public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
            (self.latitude, self.longitude, self.altitude) = (latitude, longitude, altitude)
        }
    }

    /// The moment when the image was taken; nil where the time zone of its ``date`` is not known.
    public var moment: Date? {
        guard let date, let zone = date.timeZone else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        return calendar.date(from: date)
    }

    /// The date as in `2026-11-26T07:15:00`, with `+01:00` where the time zone is known.
    package var isoDate: String? {
        guard let date else { return nil }
        func digits(_ number: Int?, _ count: Int = 2) -> String {
            let text = "\(number ?? 0)"
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = [digits(date.year, 4), digits(date.month), digits(date.day)].joined(separator: "-")
        let time = [date.hour, date.minute, date.second].map { digits($0) }.joined(separator: ":")
        let zone = date.timeZone.map { zone in
            let minutes = abs(zone.secondsFromGMT()) / 60
            return (zone.secondsFromGMT() < 0 ? "-" : "+") + digits(minutes / 60) + ":" + digits(minutes % 60)
        }
        return "\(day)T\(time)" + (zone ?? "")
    }
}
