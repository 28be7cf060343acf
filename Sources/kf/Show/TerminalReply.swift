// The replies of a terminal to the questions about its graphics.

import Foundation

/// The replies of a terminal so far.
///
/// Every terminal replies to the last question, for its attributes, so the reply to the last question is the end.
struct TerminalReply {
    /// The questions: kitty's graphics, then the attributes, of which 4 means sixels.
    static let questions = KittyGraphics.question + "\u{1B}[c"

    private var bytes: [UInt8] = []

    /// Whether the terminal has replied that it knows kitty's graphics.
    private(set) var knowsKitty = false
    /// The terminal's attributes; nil until they have arrived.
    private(set) var attributes: [Int]?

    var isComplete: Bool { attributes != nil }

    /// The best way to draw that the replies allow.
    var best: ShowProtocol {
        if knowsKitty { return .kitty }
        return attributes?.dropFirst().contains(4) == true ? .sixel : .blocks
    }

    /// Takes further bytes.
    mutating func add(_ more: some Sequence<UInt8>) {
        bytes += more
        let text = String(decoding: bytes, as: UTF8.self)
        knowsKitty = knowsKitty || text.contains(KittyGraphics.reply)
        attributes = attributes ?? Self.attributes(in: text)
    }

    /// Finds `ESC [ ? 62 ; 4 c`.
    private static func attributes(in text: String) -> [Int]? {
        for part in text.components(separatedBy: "\u{1B}[?").dropFirst() {
            let numbers = part.prefix { $0.isASCII && ($0.isNumber || $0 == ";") }
            guard part.dropFirst(numbers.count).first == "c" else { continue }
            return numbers.split(separator: ";").compactMap { Int($0) }
        }
        return nil
    }
}
