// The settings for showing a progressive JPEG while it arrives.

public import Foundation

/// How a progressive JPEG is shown while its data arrives.
///
/// Previews are made of files whose frame header says that they are progressive, and of no others. They are never
/// cached, and never given to the completion handler.
public struct ImageProgressive: Sendable {
    /// The decision about a preview.
    public enum UpdatingStrategy: Sendable {
        /// The preview is shown.
        case `default`
        /// The image that is shown stays.
        case keepCurrent
        /// Another image is shown instead; nil shows none.
        case replace(KFCrossPlatformImage?)
    }

    /// Whether the first previews, of which little is known yet, are blurred.
    public var isBlur: Bool

    /// Whether only the latest scan is shown when several have arrived; otherwise each is shown, in order.
    public var isFastestScan: Bool

    /// The least time between a preview and the beginning of work on the next, in seconds.
    public var scanInterval: TimeInterval

    /// Called with every preview, on the main thread; decides what is shown.
    ///
    /// It is called even if no view shows the image; its result is ignored then.
    public let onImageUpdated = Delegate<KFCrossPlatformImage, UpdatingStrategy>()

    /// Blurred previews of the latest scan, without a pause between them.
    public init() { self.init(isBlur: true, isFastestScan: true, scanInterval: 0) }

    /// Creates a setting.
    ///
    /// - Parameters:
    ///   - isBlur: Whether the first previews are blurred.
    ///   - isFastestScan: Whether only the latest scan is shown when several have arrived.
    ///   - scanInterval: The least time between two previews in seconds.
    public init(isBlur: Bool, isFastestScan: Bool, scanInterval: TimeInterval) {
        self.isBlur = isBlur
        self.isFastestScan = isFastestScan
        self.scanInterval = scanInterval
    }

    /// The radius in pixels by which a preview is blurred when so many scans have begun; nil when it is not.
    func blurRadius(scanCount: Int) -> Double? {
        isBlur && scanCount < 6 ? max(2, 14 - 4 * Double(scanCount)) : nil
    }
}

extension ImageProgressive {
    /// Blurred previews of the latest scan, without a pause between them.
    @available(*, deprecated, message: "Use `init()`: all users of a shared value share its delegate.")
    public static let `default` = ImageProgressive()
}
