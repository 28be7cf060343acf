// The interface of an animation to its player: frames on demand, and how long each is shown.

public import Foundation

/// The frames of an animated image, made when they are asked for.
///
/// A source may be used from any thread. Frames are whole images: the stored pixels of a frame have been laid over the
/// frames before it.
public protocol ImageFrameSource: Sendable {
    /// The encoded bytes the frames come from; nil when there are none.
    var data: Data? { get }

    /// How many frames there are.
    var frameCount: Int { get }

    /// How often the frames are to be played according to the file; 0, the default, means endlessly.
    var loopCount: UInt { get }

    /// Whether frames are missing, or one that has been decoded by now lacks a part; false, the default, where that is
    /// not known.
    var isDamaged: Bool { get }

    /// One frame, blocking the thread while it is decoded.
    ///
    /// - Parameters:
    ///   - index: From 0 up.
    ///   - maxSize: A limit in pixels on the longer side, which is the longer side of `maxSize`; the proportions are
    ///     kept, and frames are never enlarged. Nil or zero limits nothing.
    /// - Returns: The whole image; nil when there is no such frame or it cannot be decoded.
    func frame(at index: Int, maxSize: CGSize?) -> Bitmap?

    /// How long a frame is shown.
    ///
    /// - Parameter index: From 0 up.
    /// - Returns: Seconds; 0 when there is no such frame.
    func duration(at index: Int) -> TimeInterval

    /// A source of the same frames that shares no decoder with this one, so that neither waits for the other.
    func copy() -> Self
}

extension ImageFrameSource {
    /// 0: endlessly.
    public var loopCount: UInt { 0 }

    /// False: nothing is known of damage.
    public var isDamaged: Bool { false }

    /// One frame at its full size, blocking the thread while it is decoded.
    ///
    /// - Parameter index: From 0 up.
    /// - Returns: The whole image; nil when there is no such frame or it cannot be decoded.
    public func frame(at index: Int) -> Bitmap? { frame(at: index, maxSize: nil) }

    /// The source itself.
    public func copy() -> Self { self }
}
