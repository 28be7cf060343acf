// The keys under which caches have images: those of the source, with the identifier of the processor.

extension String {
    /// The key of the image that the processor with this identifier makes of the image with this key.
    func computedKey(with identifier: String) -> String { identifier.isEmpty ? self : "\(self)@\(identifier)" }

    /// The key of the image that the processor of these options makes of the image with this key.
    func computedKey(_ options: KingfisherParsedOptionsInfo) -> String {
        computedKey(with: options.processor.identifier)
    }
}
