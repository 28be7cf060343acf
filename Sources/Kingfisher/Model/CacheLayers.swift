// The layers of a cache, for options that say which of them a load asks and fills.

/// The layers of a cache. (Not in Kingfisher.)
public struct CacheLayers: OptionSet, Hashable, Sendable {
    /// A bit for each layer.
    public let rawValue: UInt8

    /// Creates a set of layers.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Images in memory.
    public static let memory = CacheLayers(rawValue: 1)
    /// Files on disk.
    public static let disk = CacheLayers(rawValue: 2)
    /// Memory and disk.
    public static let all: CacheLayers = [.memory, .disk]
}
