// A log whose lines are text for people. For the program.

package import Foundation
package import Logging

/// Writes each message as a line: time, level, the message, and what is known beside it as `name=value`.
package struct TextLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.info
    private let write: @Sendable (Data) -> Void

    /// A log.
    ///
    /// - Parameter write: Is given whole lines, from any thread; the standard output unless another place is given.
    package init(
        write: @escaping @Sendable (Data) -> Void = { try? FileHandle.standardOutput.write(contentsOf: $0) }
    ) {
        self.write = write
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let pairs = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(Self.quoted("\($0.value)"))" }
        let error = event.error.map { ["error=" + Self.quoted("\($0)")] } ?? []
        let words = [time, event.level.rawValue, Self.oneLine(event.message.description)] + pairs + error
        write(Data((words.joined(separator: " ") + "\n").utf8))
    }

    /// In quotes where it would not be one word.
    private static func quoted(_ text: String) -> String {
        let isWord = !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"=\\".utf8.contains($0) }
        return isWord ? text : text.debugDescription
    }

    /// Without line breaks, which would begin another line of the log.
    private static func oneLine(_ text: String) -> String {
        text.unicodeScalars.contains { $0.value < 0x20 } ? text.debugDescription : text
    }
}
