// The errors of decoding and encoding images.

/// Why an image could not be decoded, measured or encoded.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ImagingError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file could not be read; `detail` is the system's reason.
    case unreadableFile(path: String, detail: String)
    /// There were no bytes at all.
    case emptyData
    /// The bytes are no image in a known format; `resembling` says what they look like instead, e.g. "an HTML page".
    case unrecognizedFormat(resembling: String?)
    /// The bytes claim to be of a format but are damaged; `detail` is the decoder's message.
    case malformed(ImageContentType, detail: String)
    /// The image is larger (in pixels) than a limit of ``ImageDecodingLimits`` allows.
    case limitExceeded(limit: String, allowed: Int, width: Int, height: Int)
    /// The animation has more frames than ``ImageDecodingLimits/maxFrameCount`` allows.
    case tooManyFrames(Int, allowed: Int)
    /// There is not enough memory for the image: so many bytes, nil when a library did not say how many.
    case outOfMemory(bytes: Int?)
    /// The format, or a feature of it, is known but not supported.
    case unsupported(ImageContentType, detail: String)
    /// The format (or operation) takes a library that was missing when this one was compiled: `package` is the one of
    /// Debian and Ubuntu that has it.
    case notBuiltIn(String, package: String)
    /// The image could not be written in the format.
    case encodingFailed(ImageContentType, detail: String)
    /// Registered coders accepted the bytes and failed, and no other coder could decode them; the error of each.
    case coderFailed([String])
    /// The process that decoded the image ended, or was ended as it took too long or gave an answer without sense;
    /// `reason` names the signal. See ``DecodingIsolation``.
    ///
    /// Nothing is known about the image. The same bytes are refused for ten minutes when they have done that twice.
    case decoderEnded(ImageContentType, reason: String)
    /// ``DecodingIsolation/required`` cannot be had; `detail` says what is missing, and what to do.
    case isolationUnavailable(detail: String)

    /// One line of text for messages.
    public var description: String {
        switch self {
        case .unreadableFile(let path, let detail):
            "the file \(path) cannot be read: \(detail)"
        case .emptyData:
            "there are no bytes to decode"
        case .unrecognizedFormat(let resembling?):
            "the bytes look like \(resembling), not an image"
        case .unrecognizedFormat(nil):
            "the bytes are not an image of a known format"
        case .malformed(let type, let detail):
            "the \(type.name) data is damaged: \(detail)"
        case .limitExceeded(let limit, let allowed, let width, let height):
            "the image of \(width) × \(height) pixels exceeds the limit \(limit) = \(allowed)"
        case .tooManyFrames(let count, let allowed):
            "the animation of \(count) frames exceeds the limit maxFrameCount = \(allowed);"
                + " load its first frame alone, or raise the limit"
        case .outOfMemory(let bytes?):
            "there is not enough memory for the image: \(bytes) bytes more are not available"
        case .outOfMemory(nil):
            "there is not enough memory for the image"
        case .unsupported(let type, let detail):
            "\(type.name) is not supported here: \(detail)"
        case .notBuiltIn(let what, let package):
            "\(what) is not built in: install \(package) and build again, from clean (swift package clean)"
        case .encodingFailed(let type, let detail):
            "the image could not be written as \(type.name): \(detail)"
        case .coderFailed(let reasons):
            "no coder could decode the data: \(reasons.joined(separator: "; "))"
        case .decoderEnded(let type, let reason):
            "the decoder ended at the \(type.name) data: \(reason)"
        case .isolationUnavailable(let detail):
            "images may only be decoded in a locked process, and there is none: \(detail)"
        }
    }
}
