// Kingfisher's type for an animation with all its frames decoded; public API for the durations of frames.

public import Foundation
import KFImaging

/// The frames of an animation, all decoded, and how long they are shown.
public final class GIFAnimatedImage: Sendable {
    let images: [KFCrossPlatformImage]
    /// How long all frames take once, in seconds; infinite when there is one only.
    let duration: TimeInterval

    /// Decodes all frames that can be decoded; nil when the first one cannot, or they have too many pixels together.
    init?(from source: any ImageFrameSource, options: ImageCreatingOptions) {
        var options = options
        (options.preloadAll, options.onlyFirstFrame) = (true, false)
        guard let image = Image.animated(source, options: options), let images = image.images else { return nil }
        self.images = images
        duration = image.duration
    }

    /// How long a frame is shown, from its properties as Apple's ImageIO names them.
    ///
    /// - Parameter gifInfo: Numbers of seconds, of any type, under `UnclampedDelayTime` or, if that is missing,
    ///   `DelayTime`.
    /// - Returns: Seconds; 0.1 when there is no such number, or it is 0.011 or less, or infinite.
    public static func getFrameDuration(from gifInfo: [String: Any]?) -> TimeInterval {
        let delay = seconds(gifInfo?["UnclampedDelayTime"]) ?? seconds(gifInfo?["DelayTime"])
        return FrameDelay.effective(delay.map { $0.isFinite ? $0 : 0 } ?? 0)
    }

    private static func seconds(_ value: Any?) -> TimeInterval? {
        switch value {
        case let number as any BinaryFloatingPoint: TimeInterval(number)
        case let number as any BinaryInteger: TimeInterval(number)
        case let number as NSNumber: number.doubleValue
        default: nil
        }
    }

    /// How long a frame of a source is shown.
    ///
    /// - Parameters:
    ///   - source: The frames.
    ///   - index: The number of the frame, from 0.
    /// - Returns: Seconds; 0 when there is no such frame.
    public static func getFrameDuration(from source: any ImageFrameSource, at index: Int) -> TimeInterval {
        (0..<source.frameCount).contains(index) ? source.duration(at: index) : 0
    }
}
