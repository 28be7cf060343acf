// Images for terminals with kitty's graphics protocol: PNG in Base64, in pieces.

import Foundation

/// Draws with the graphics protocol of kitty and of terminals that adopted it.
enum KittyGraphics {
    /// The most characters of Base64 that one sequence may carry.
    static let pieceLength = 4096

    /// Asks whether the terminal knows the protocol: one pixel that is not to be shown.
    static let question = "\u{1B}_Gi=\(questionID),s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\"

    /// The reply of a terminal that knows the protocol, without its end.
    static let reply = "\u{1B}_Gi=\(questionID);OK"

    private static let questionID = 31

    /// The sequences that show an image at the cursor without moving the cursor.
    ///
    /// - Parameters:
    ///   - png: The image as PNG.
    ///   - id: A number for the image, which replaces the last one with that number.
    /// - Returns: The bytes to write.
    static func sequences(png: Data, id: UInt32?) -> [UInt8] {
        let text = Array(png.base64EncodedData())
        // Shown at once, PNG, no replies wanted, the cursor left alone.
        var keys = "a=T,f=100,q=2,C=1"
        if let id { keys += ",i=\(id),p=1" }
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: max(1, text.count), by: pieceLength) {
            let end = min(start + pieceLength, text.count)
            let more = end < text.count ? 1 : 0
            bytes += Array("\u{1B}_G\(start == 0 ? "\(keys),m=\(more)" : "q=2,m=\(more)");".utf8)
            bytes += text[start..<end]
            bytes += Array("\u{1B}\\".utf8)
        }
        return bytes
    }
}
