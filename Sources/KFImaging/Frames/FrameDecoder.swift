// The interface of a format's animation: where its frames lie, and their own pixels. FrameCompositor composes them.

import Foundation

/// The description of one frame in a file, read without decoding pixels.
struct FrameDescription: Sendable, Hashable {
    /// How the frame's rectangle is treated before the next frame is drawn.
    enum Disposal: Sendable, CaseIterable {
        /// It stays.
        case keep
        /// It becomes transparent.
        case clear
        /// It gets back the pixels that it had before the frame was drawn.
        case restore
    }

    /// How the frame's pixels meet those of the canvas.
    enum Blend: Sendable {
        /// They replace those of the canvas, transparent ones too.
        case source
        /// They are laid over those of the canvas.
        case over
    }

    /// Where the frame lies on the canvas; parts outside of it are not shown.
    var x: Int
    var y: Int
    var size: PixelSize
    /// How long the frame is shown, in seconds, as `FrameDelay.effective` has it.
    var delay: TimeInterval
    var disposal = Disposal.keep
    var blend = Blend.over
    /// Whether every pixel of the frame is known to be opaque.
    var isOpaque = false
}

/// How long a frame is shown.
package enum FrameDelay {
    /// Delays of 11 ms and less are mistakes, and mean a tenth of a second.
    package static func effective(_ seconds: Double) -> Double { seconds > 0.011 ? seconds : 0.1 }
}

/// One format's animation: the descriptions of its frames, and their pixels.
///
/// A decoder is used by one thread at a time. It may keep data that makes the next frame cheap, and nothing that grows
/// with the number of frames but their descriptions. The number of frames and the size of the canvas have been checked
/// against the limits when a decoder exists.
protocol FrameDecoder: Sendable {
    /// The size of the whole image.
    var canvas: PixelSize { get }
    /// The frames, at least one.
    var frames: [FrameDescription] { get }
    /// How often the frames are to be played; 0 means endlessly.
    var loopCount: UInt { get }
    /// How whole images are to be turned for display.
    ///
    /// Canvas, descriptions and pixels are as stored, not turned yet. `.up` unless a decoder says otherwise.
    var orientation: Orientation { get }

    /// Whether the data ends before the last of the frames it announces; false unless a decoder says otherwise.
    var isTruncated: Bool { get }

    /// Decodes a frame's own pixels, and hands over each row once, in any order.
    ///
    /// - Parameters:
    ///   - index: A frame that exists.
    ///   - row: Called with y from 0 below the frame's height, and as many premultiplied sRGB pixels (0xAARRGGBB) as
    ///     the frame is wide, valid during the call.
    /// - Throws: ``ImagingError`` when the frame is damaged; rows that could be decoded have been handed over.
    func decode(_ index: Int, row: (_ y: Int, _ pixels: UnsafePointer<UInt32>) -> Void) throws(ImagingError)

    /// A decoder of the same bytes that shares no state with this one.
    func independent() throws(ImagingError) -> any FrameDecoder
}

extension FrameDecoder {
    var orientation: Orientation { .up }
    var isTruncated: Bool { false }

    /// The decoder itself, for decoders that have no state.
    func independent() throws(ImagingError) -> any FrameDecoder { self }
}
