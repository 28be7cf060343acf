// The options of decoding: how much an image of one load, or of one manager, may cost.

public import KFImaging

extension KingfisherParsedOptionsInfo {
    private enum DecodingLimitsKey: OptionKey { typealias Value = ImageDecodingLimits }

    /// The limits beyond which images are refused, and where they are decoded; nil means `ImageDecodingLimits.default`,
    /// those of the process.
    ///
    /// Among a manager's ``KingfisherManager/defaultOptions`` they are the limits of that manager. What the library's
    /// processors and serializers decode is held to them, downloads and what is on disk; an image that is in memory
    /// already is delivered as it is. Loads with other limits share the download and nothing else. (Not in Kingfisher.)
    public var decodingLimits: ImageDecodingLimits? {
        get { self[DecodingLimitsKey.self] }
        set { self[DecodingLimitsKey.self] = newValue }
    }

    /// The limits that hold.
    var limits: ImageDecodingLimits { decodingLimits ?? .default }
}
