// From a picture to what a terminal is sent, and the cursor around it. Knows nothing of time.

import Foundation
import KFImaging
import Kingfisher

/// Draws the pictures of one source, all at the same place.
struct ShowDrawing: Sendable {
    let form: ShowProtocol
    let layout: ShowLayout
    /// Whether the place is a screen, where there is a cursor to be moved.
    let isScreen: Bool
    /// Whether more than one picture will be drawn.
    let isAnimated: Bool
    private let pictureID: UInt32?

    init(form: ShowProtocol, layout: ShowLayout, isScreen: Bool, isAnimated: Bool) {
        self.form = form
        self.layout = layout
        self.isScreen = isScreen
        self.isAnimated = isAnimated
        // A number that pictures shown earlier are not likely to have.
        pictureID = isAnimated ? UInt32.random(in: 1 << 16..<1 << 24) : nil
    }

    /// Makes room on the screen, and goes to its top.
    var opening: [UInt8] {
        guard isScreen else { return [] }
        let room = String(repeating: "\n", count: layout.lines) + "\u{1B}[\(layout.lines)A\r"
        return Array(((isAnimated ? "\u{1B}[?25l" : "") + room).utf8)
    }

    /// Goes below the picture, and shows the cursor again.
    var closing: [UInt8] {
        guard isScreen else { return [] }
        return Array(("\u{1B}[\(layout.lines)B\r" + (isAnimated ? "\u{1B}[?25h" : "")).utf8)
    }

    /// What draws one picture and leaves the cursor where it was; blocks the thread.
    func bytes(for picture: Image) throws(Failure) -> [UInt8] {
        let size = CGSize(width: layout.width, height: layout.height)
        let fitted = picture.size == size ? picture : picture.kf.resize(to: size)
        guard let bitmap = fitted.cgImage else { return [] }
        let body = try body(bitmap)
        guard isScreen else { return body }
        let clearing = isAnimated && form == .sixel && bitmap.hasAlpha ? cleared : ""
        // Animations are drawn between marks that let the terminal show whole frames only.
        let (begin, end) = isAnimated ? ("\u{1B}[?2026h", "\u{1B}[?2026l") : ("", "")
        return Array("\(begin)\u{1B}7\(clearing)".utf8) + body + Array("\u{1B}8\(end)".utf8)
    }

    private func body(_ bitmap: Bitmap) throws(Failure) -> [UInt8] {
        switch form {
        case .blocks:
            let lines = HalfBlocks.lines(ShownPixels(bitmap))
            return Array((isScreen ? lines.joined(separator: "\r\n") : lines.joined(separator: "\n") + "\n").utf8)
        case .sixel:
            return Sixel.sequence(ShownPixels(bitmap)) + (isScreen ? [] : [UInt8(ascii: "\n")])
        case .kitty:
            do throws(ImagingError) {
                let png = try Codecs.encode(Image(cgImage: bitmap), as: .png)
                return KittyGraphics.sequences(png: png, id: pictureID) + (isScreen ? [] : [UInt8(ascii: "\n")])
            } catch {
                throw .cannotEncode("PNG", "\(error)")
            }
        }
    }

    /// Empties the picture's lines and goes back to the first.
    private var cleared: String {
        Array(repeating: "\u{1B}[2K", count: layout.lines).joined(separator: "\u{1B}[B") + "\u{1B}8\u{1B}7"
    }
}
