// Why an upload has no variants, and the status that a server answers with.

public import KFImaging

/// Why nothing was made of an upload. (Not in Kingfisher.)
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UploadError: Error, Sendable, CustomStringConvertible {
    /// It has more bytes than ``UploadOptions/maxBytes`` allows.
    case tooManyBytes(Int, allowed: Int)
    /// It is no image, one that cannot be decoded or is cut off, or one that exceeds a limit, or the most that the
    /// format of a variant holds.
    case unusable(ImagingError)
    /// The name that it was sent under has the extension of one image format, without the dot, and the bytes are of
    /// another one, which is given; see ``UploadOptions/allowsWrongExtension``.
    case wrongExtension(String, ImageContentType)
    /// A variant cannot be made: its quality is none, or nothing here writes its format.
    case variantFailed(name: String, ImagingError)
    /// A file cannot be written; `detail` says why.
    case notWritten(path: String, detail: String)
    /// The task was cancelled.
    case cancelled

    /// A word for logs and clients, such as `too_large`, which never changes.
    public var code: String {
        switch self {
        case .tooManyBytes: "too_large"
        case .unusable(.limitExceeded), .unusable(.tooManyFrames), .unusable(.outOfMemory): "too_large"
        case .unusable(.emptyData), .unusable(.unrecognizedFormat): "not_an_image"
        case .unusable(.unsupported), .unusable(.notBuiltIn): "unsupported_format"
        case .unusable(.unreadableFile), .unusable(.isolationUnavailable): "internal"
        case .unusable: "damaged"
        case .wrongExtension: "wrong_extension"
        case .variantFailed: "variant_failed"
        case .notWritten: "not_written"
        case .cancelled: "cancelled"
        }
    }

    /// The status of an HTTP response: 413 where it is too large, 415 where it is no image of a known format or has the
    /// extension of another one, 422 where it is damaged, 500 where the fault is the server's, 503 where the server is
    /// ending.
    public var responseStatus: Int {
        switch code {
        case "too_large": 413
        case "not_an_image", "unsupported_format", "wrong_extension": 415
        case "damaged": 422
        case "cancelled": 503
        default: 500
        }
    }

    /// One line of text for logs.
    public var description: String {
        switch self {
        case .tooManyBytes(let count, let allowed):
            "the upload of \(count) bytes exceeds the limit maxBytes = \(allowed)"
        case .unusable(let error): "no image can be made of the upload: \(error)"
        case .wrongExtension(let ending, let type):
            "the extension of the upload is .\(ending), and its bytes are \(type.name)"
        case .variantFailed(let name, let error): "the variant \(name) of the upload cannot be made: \(error)"
        case .notWritten(let path, let detail): "the file \(path) cannot be written: \(detail); nothing was"
        case .cancelled: "the upload was cancelled"
        }
    }
}
