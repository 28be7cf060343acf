// The options of an encoder.

/// How an image is to be encoded.
public struct ImageEncodingOptions: Sendable, Hashable {
    /// From 0 to 1, for formats that lose something; 1 unless set.
    public var quality: Double
    /// Whether nothing may be lost, for formats that can do both; false unless set.
    public var lossless: Bool

    /// Options of encoding.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 1; values outside are moved to the nearer end, and NaN counts as 1.
    ///   - lossless: Whether nothing may be lost.
    public init(quality: Double = 1, lossless: Bool = false) {
        self.quality = quality.isNaN ? 1 : min(max(quality, 0), 1)
        self.lossless = lossless
    }
}
