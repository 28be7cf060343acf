// The bytes that draw an image in a terminal, and the cursor movements around them.

import Foundation
import KFImaging
import Kingfisher

/// Draws the frames of one source, all at the same place.
struct ShowDrawing: Sendable {
    let form: ShowProtocol
    let layout: ShowLayout
    /// Whether the output is a screen with a cursor.
    let isScreen: Bool
    /// Whether more than one frame is drawn.
    let isAnimated: Bool
    private let imageID: UInt32?

    init(form: ShowProtocol, layout: ShowLayout, isScreen: Bool, isAnimated: Bool) {
        self.form = form
        self.layout = layout
        self.isScreen = isScreen
        self.isAnimated = isAnimated
        // A random number, which images shown earlier are not likely to have.
        imageID = isAnimated ? UInt32.random(in: 1 << 16..<1 << 24) : nil
    }

    /// The bytes that make room on the screen and move the cursor to its top.
    var opening: [UInt8] {
        guard isScreen else { return [] }
        let room = String(repeating: "\n", count: layout.lines) + "\u{1B}[\(layout.lines)A\r"
        return Array(((isAnimated ? "\u{1B}[?25l" : "") + room).utf8)
    }

    /// The bytes that move the cursor below the image and show it again.
    var closing: [UInt8] {
        guard isScreen else { return [] }
        return Array(("\u{1B}[\(layout.lines)B\r" + (isAnimated ? "\u{1B}[?25h" : "")).utf8)
    }

    /// The bytes that draw one image and leave the cursor where it was; blocks the thread.
    func bytes(for image: Image) throws(Failure) -> [UInt8] {
        let size = CGSize(width: layout.width, height: layout.height)
        let fitted = image.size == size ? image : image.kf.resize(to: size)
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
                return KittyGraphics.sequences(png: png, id: imageID) + (isScreen ? [] : [UInt8(ascii: "\n")])
            } catch {
                throw .cannotEncode("PNG", "\(error)")
            }
        }
    }

    /// The codes that empty the image's lines and move the cursor back to the first.
    private var cleared: String {
        Array(repeating: "\u{1B}[2K", count: layout.lines).joined(separator: "\u{1B}[B") + "\u{1B}8\u{1B}7"
    }
}
