// What a file says about its gain map. For ImageInfo.

/// The gain map of an image: how much brighter, or darker, each of its parts is on a screen of high dynamic range.
///
/// Amounts of light are compared in stops, which are powers of two: 2 stops are four times the light, -1 is half of it.
public struct GainMapInfo: Sendable, Codable, Hashable {
    /// A way of writing the parameters of a map.
    public enum ParameterKind: String, Sendable, Codable, CaseIterable {
        /// XMP with the names of Adobe's gain maps (`hdrgm`), which Ultra HDR takes too.
        case xmp
        /// The binary form of ISO 21496-1.
        case iso
    }

    /// The meaning of the numbers of a map, for one colour or for all.
    public struct Channel: Sendable, Codable, Hashable {
        /// The stops that 0 in the map means.
        public var minBoost: Double
        /// The stops that the largest number in the map means.
        public var maxBoost: Double
        /// The exponent that the numbers of the map were raised to; above 0.
        public var gamma: Double
        /// What is added to the amount of light of the darker rendition, where white is 1.
        public var offsetSDR: Double
        /// What is added to the amount of light of the brighter rendition, where white is 1.
        public var offsetHDR: Double
    }

    /// The width of the map as stored, in pixels.
    public var pixelWidth: Int
    /// The height of the map as stored, in pixels.
    public var pixelHeight: Int
    /// The ways in which the file has the parameters, at least one; the numbers here are those of ISO 21496-1, if it is
    /// one of them.
    public var parameterKinds: [ParameterKind]
    /// The parameters: those of all colours if it is one, else those of red, green and blue.
    public var channels: [Channel]
    /// The stops above the white of paper that a screen has to show before the map counts.
    public var minCapacity: Double
    /// The stops above the white of paper from which on the map counts in full.
    public var maxCapacity: Double
    /// Whether the image that programs without gain maps show is the brighter rendition.
    public var isBaseHDR: Bool
}
