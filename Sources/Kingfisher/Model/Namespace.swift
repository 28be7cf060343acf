// The `kf` namespace, which other files extend.

public import Foundation

/// A value that carries the `kf` namespace of another one: `image.kf`, `size.kf`.
public struct KingfisherWrapper<Base> {
    /// The value that the namespace belongs to.
    public let base: Base

    /// Wraps a value.
    public init(_ base: Base) { self.base = base }
}

extension KingfisherWrapper: Sendable where Base: Sendable {}

/// An object with a `kf` namespace.
public protocol KingfisherCompatible: AnyObject {}

/// A value with a `kf` namespace.
public protocol KingfisherCompatibleValue {}

extension KingfisherCompatible {
    /// Everything Kingfisher adds to this object.
    ///
    /// Assigning does nothing; it only allows properties behind it to be set.
    public var kf: KingfisherWrapper<Self> {
        get { KingfisherWrapper(self) }
        set {}  // swift-format-ignore: UseSingleLinePropertyGetter
    }
}

extension KingfisherCompatibleValue {
    /// Everything Kingfisher adds to this value.
    ///
    /// Assigning does nothing; it only allows properties behind it to be set.
    public var kf: KingfisherWrapper<Self> {
        get { KingfisherWrapper(self) }
        set {}  // swift-format-ignore: UseSingleLinePropertyGetter
    }
}

extension Image: KingfisherCompatible {}
extension CGSize: KingfisherCompatibleValue {}
extension Data: KingfisherCompatibleValue {}
extension String: KingfisherCompatibleValue {}
