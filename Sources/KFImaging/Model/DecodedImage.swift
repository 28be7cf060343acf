// The image that a codec made of a file, before it becomes an Image. For codecs, and those who bring it from a decoder.

/// The result of decoding.
struct DecodedImage {
    var bitmap: Bitmap
    var orientation = Orientation.up
    /// Nil for stills.
    var frameCount: Int?
    /// Whether a part of the image, or of the frames after it, is missing or could not be decoded.
    var isDamaged = false
}
