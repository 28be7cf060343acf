// A log whose lines are JSON. For the program.

package import Foundation
package import Logging

/// Writes each message as an object on a line of its own.
package struct JSONLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.info
    private let label: String
    private let write: @Sendable (Data) -> Void

    /// A log.
    ///
    /// - Parameters:
    ///   - label: The value of `logger` in each line.
    ///   - write: Is given whole lines, from any thread; the standard output unless another place is given.
    package init(
        label: String,
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardOutput.write(contentsOf: $0) }
    ) {
        (self.label, self.write) = (label, write)
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var line = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(Self.json)
        line["time"] = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        line["level"] = event.level.rawValue
        line["logger"] = label
        line["message"] = event.message.description
        if let error = event.error { line["error"] = "\(error)" }
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? JSONSerialization.data(withJSONObject: line, options: options) else { return }
        write(data + [UInt8(ascii: "\n")])
    }

    /// Numbers stay numbers.
    private static func json(_ value: Logger.Metadata.Value) -> Any {
        switch value {
        case .string(let text): text
        case .stringConvertible(let number as Int): number
        case .stringConvertible(let number as Double) where number.isFinite: number
        case .stringConvertible(let other): other.description
        case .array(let values): values.map(json)
        case .dictionary(let values): values.mapValues(json)
        }
    }
}
