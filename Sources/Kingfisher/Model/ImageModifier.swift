// The protocol by which users change a finished image before it is delivered, and its form with a closure.

/// Changes a finished image just before it is delivered.
///
/// The image it returns is never cached.
public protocol ImageModifier: Sendable {
    /// The image to deliver instead. Called on any thread.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage
}

/// An image modifier made from a closure.
public struct AnyImageModifier: ImageModifier {
    private let block: @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage

    /// Creates a modifier.
    /// - Parameter modify: Gives the image to deliver; when it throws, the image is delivered unchanged.
    public init(modify: @escaping @Sendable (KFCrossPlatformImage) throws -> KFCrossPlatformImage) { block = modify }

    /// The closure's image, or the given one when the closure throws.
    /// - Parameter image: The image as it would be delivered.
    /// - Returns: The image to deliver.
    public func modify(_ image: KFCrossPlatformImage) -> KFCrossPlatformImage { (try? block(image)) ?? image }
}
