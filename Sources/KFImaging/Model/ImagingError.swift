// Why pixels could not be had, or not be written. Knows no URL and no option.

/// Why an image could not be decoded, measured or encoded.
public enum ImagingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There were no bytes at all.
    case emptyData
    /// The bytes are no image that is known; `resembling` says what they look like instead, e.g. "an HTML page".
    case unrecognizedFormat(resembling: String?)
    /// The bytes claim to be of a format but are damaged; `detail` is what the decoder said.
    case malformed(ImageContentType, detail: String)
    /// The picture is larger (in pixels) than a limit of ``ImageDecodingLimits`` allows.
    case limitExceeded(limit: String, allowed: Int, width: Int, height: Int)
    /// The animation has more frames than ``ImageDecodingLimits/maxFrameCount`` allows.
    case tooManyFrames(Int, allowed: Int)
    /// The memory that the picture needs could not be had: so many bytes, nil when a library did not say how many.
    case outOfMemory(bytes: Int?)
    /// The format, or a feature of it, is known and cannot be handled.
    case unsupported(ImageContentType, detail: String)
    /// The image could not be written in the format.
    case encodingFailed(ImageContentType, detail: String)
    /// Registered coders accepted the bytes and failed, and no other coder could decode them; the error of each.
    case coderFailed([String])

    /// One line for people.
    public var description: String {
        switch self {
        case .emptyData:
            "there are no bytes to decode"
        case .unrecognizedFormat(let resembling?):
            "the bytes look like \(resembling), not an image"
        case .unrecognizedFormat(nil):
            "the bytes are not an image of a known format"
        case .malformed(let type, let detail):
            "the \(type.name) data is damaged: \(detail)"
        case .limitExceeded(let limit, let allowed, let width, let height):
            "the picture of \(width) × \(height) pixels exceeds the limit \(limit) = \(allowed)"
        case .tooManyFrames(let count, let allowed):
            "the animation of \(count) frames exceeds the limit maxFrameCount = \(allowed);"
                + " load its first frame alone, or raise the limit"
        case .outOfMemory(let bytes?):
            "there is not enough memory for the picture: \(bytes) bytes more could not be had"
        case .outOfMemory(nil):
            "there is not enough memory for the picture"
        case .unsupported(let type, let detail):
            "\(type.name) is not supported here: \(detail)"
        case .encodingFailed(let type, let detail):
            "the image could not be written as \(type.name): \(detail)"
        case .coderFailed(let reasons):
            "no coder could decode the data: \(reasons.joined(separator: "; "))"
        }
    }
}
