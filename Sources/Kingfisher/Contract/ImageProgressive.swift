// How a picture is shown while it arrives. Knows no decoder and no view.

public import Foundation

/// How a progressive JPEG is shown while its data arrives.
///
/// Previews are made of files whose frame header says that they are progressive, and of no others. They are never
/// cached, and never given to the completion handler.
public struct ImageProgressive: Sendable {
    /// What becomes of a preview.
    public enum UpdatingStrategy: Sendable {
        /// It is shown.
        case `default`
        /// What is shown stays.
        case keepCurrent
        /// Another picture is shown instead; nil shows none.
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
    /// Without a view that shows the picture it is called all the same, and what it returns is ignored.
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
