// Images turned to orientation `.up`.

extension Image {
    /// The same image with orientation `.up`; the image itself when there is not enough memory to turn it.
    ///
    /// A preloaded animation stays as it is: its frames have their own orientations.
    package var normalized: Image { metadata.preloaded == nil ? orientedUp : self }

    /// The image with orientation `.up`, also of a preloaded animation; the image itself when there is not enough
    /// memory.
    package var orientedUp: Image { (try? upright()) ?? self }

    /// The same image with orientation `.up`.
    ///
    /// - Throws: ``ImagingError/outOfMemory(bytes:)``.
    package func upright() throws(ImagingError) -> Image {
        guard let bitmap = cgImage, imageOrientation != .up else { return self }
        return Image(
            cgImage: try bitmap.oriented(from: imageOrientation),
            scale: scale,
            orientation: .up,
            metadata: metadata
        )
    }
}
