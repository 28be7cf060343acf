// Why one source failed: a code, a word for scripts and a sentence for people.

import Foundation
import KFImaging
import KFSupport
import Kingfisher

/// A failure as a number, a word and a sentence.
///
/// Numbers below 9000 are those of `KingfisherError`; the tool's own are listed here.
struct Failure: Error, Equatable {
    let code: Int
    let reason: String
    let message: String
    /// The name of the case of `ImagingError`, if an image's bytes are wrong.
    var imaging: String?

    /// The argument names no source.
    static func badSource(_ problem: String) -> Failure {
        Failure(code: 9001, reason: "badSource", message: problem)
    }

    /// The source is a folder, and has nothing to process.
    static func isFolder(_ problem: String) -> Failure {
        Failure(code: 9001, reason: "badSource", message: "is a folder: \(problem)")
    }

    /// The list of sources cannot be read.
    static func cannotReadList(_ name: String, _ problem: String) -> Failure {
        Failure(code: 9007, reason: "cannotReadList", message: "cannot read the list \(name): \(problem)")
    }

    /// The output cannot be written.
    static func cannotWrite(_ path: String, _ errno: Int32) -> Failure {
        let directory = path.directory
        let isMissing = errno == ENOENT && !directory.isEmpty && access(directory.systemName, F_OK) != 0
        let problem = String(cString: strerror(errno))
        let why =
            switch errno {
            case ENOENT where isMissing: "there is no directory \(directory); make it, or name another one"
            case ENOTDIR: "\(directory) is not a directory; name another one"
            case ENOSPC, EDQUOT: "\(problem); make room, or name another place"
            case EACCES, EPERM, EROFS, ENOENT: "\(problem); name a place this user may write to"
            default: problem
            }
        return Failure(code: 9002, reason: "cannotWriteOutput", message: "cannot write \(path): \(why)")
    }

    /// The output would replace an image that is read.
    static func wouldReplaceInput(_ path: String) -> Failure {
        let message = "cannot write \(path): that is one of the inputs; name another directory"
        return Failure(code: 9002, reason: "cannotWriteOutput", message: message)
    }

    /// A file cannot be read.
    static func unreadableFile(_ errno: Int32) -> Failure {
        Failure(code: 9001, reason: "badSource", message: "cannot be read: \(String(cString: strerror(errno)))")
    }

    /// Two sources have one name, and which result is whose would depend on their order.
    static func isAmbiguous(_ stem: String) -> Failure {
        let message =
            "another source is called \(stem), too; rename one of them, or leave out --skip-existing and --update"
        return Failure(code: 9002, reason: "cannotWriteOutput", message: message)
    }

    /// The image cannot be encoded in the wanted format, but perhaps in others.
    static func cannotEncode(_ format: String, _ why: String, instead: [OutputFormat] = []) -> Failure {
        let names = instead.map(\.rawValue)
        let list = [names.dropLast().joined(separator: ", "), names.last ?? ""].filter { !$0.isEmpty }
        let advice = names.isEmpty ? "" : "; use --format \(list.joined(separator: " or "))"
        return Failure(code: 9003, reason: "cannotEncode", message: "cannot write \(format): \(why)\(advice)")
    }

    /// The image cannot be written in its own format, with the options that were given.
    static func cannotKeepFormat(_ format: ImageContentType?) -> Failure {
        let name = format?.name ?? "this format"
        return Failure(
            code: 9003,
            reason: "cannotEncode",
            message: "cannot write it as \(name) again, so it is not replaced; -o writes another format to another file"
        )
    }

    /// The bytes have no header that can be read.
    static func unreadable(_ error: ImagingError) -> Failure {
        let message = "\(error)\(advice(error) ?? "")"
        return Failure(code: 9004, reason: "unreadableHeader", message: message, imaging: name(of: error))
    }

    /// The name of the file is that of another format.
    static func wrongExtension(_ ending: String, _ type: ImageContentType) -> Failure {
        let message = "the extension is .\(ending), and the image is \(type.name); rename it, or use --any-extension"
        return Failure(code: 9014, reason: "wrongExtension", message: message)
    }

    /// The image is empty.
    static let cannotHash = Failure(
        code: 9005,
        reason: "cannotHash",
        message: "the image has no pixels to make a hash of"
    )

    /// The words about an image of which a part could not be decoded.
    static let damage = "the image is damaged: a part of it is missing"

    /// The image is damaged, and that is a failure.
    static let damaged = Failure(
        code: 9008,
        reason: "damaged",
        message: "\(damage); without --strict the rest of the image is written"
    )

    /// The image is damaged, and would be replaced by what is left of it.
    static let damagedInPlace = Failure(
        code: 9008,
        reason: "damaged",
        message: "\(damage), and it is not replaced by the rest; -o writes that to another file"
    )

    /// An error of the library.
    init(_ error: KingfisherError) {
        code = error.errorCode
        reason = Self.name(of: error)
        let text = NetworkFailure.message(error) ?? error.errorDescription ?? "superseded by another load"
        // A line has one number: the number of the library's error.
        let sentence = text.replacing(#/ \(URL error -?\d+\)/#, with: "")
        message = Self.oneLine(sentence + (Self.advice(error) ?? ""))
        imaging = error.imagingError.map(Self.name)
    }

    /// An error of the library, with the reason if it is about the directory of the cache.
    init(_ error: KingfisherError, _ cache: ImageCache) {
        let plain = Failure(error)
        var message = plain.message
        switch error {
        case .cacheError(reason: .diskStorageIsNotReady), .cacheError(reason: .fileEnumeratorCreationFailed),
            .cacheError(reason: .invalidFileEnumeratorContent):
            if let failure = cache.diskStorage.directoryFailure { message += " (\(failure))" }
        default: break
        }
        self.init(code: plain.code, reason: plain.reason, message: message, imaging: plain.imaging)
    }

    init(code: Int, reason: String, message: String, imaging: String? = nil) {
        self.code = code
        self.reason = reason
        self.message = Self.oneLine(message)
        self.imaging = imaging
    }

    /// The sentence with the number.
    var text: String { "\(message) (code \(code))" }

    /// As one member of a JSON line.
    var json: JSON {
        let members = [
            JSON.Member(key: "code", value: .int(code)),
            JSON.Member(key: "reason", value: .string(reason)),
            JSON.Member(key: "message", value: .string(message)),
        ]
        return .object(members + (imaging.map { [JSON.Member(key: "imaging", value: .string($0))] } ?? []))
    }

    /// The options that allow what a limit refuses; nil where no option does.
    private static func advice(_ error: KingfisherError) -> String? {
        if case .responseError(reason: .responseTooLarge) = error { return "; --max-bytes allows more" }
        // The bytes decode, so that it is a step which made no image of them.
        if case .processorError(.processingFailed(let processor, _)) = error, error.imagingError == nil,
            processor.identifier.contains(PixelCropProcessor.name)
        {
            return "; crop at a pixel that is within the image"
        }
        return error.imagingError.flatMap(advice)
    }

    /// The options that allow what a limit of the engine refuses; nil where no option does.
    private static func advice(_ error: ImagingError) -> String? {
        switch error {
        case .limitExceeded(let limit, _, let width, let height)
        where ["maxPixelCount", "maxCoefficientBytes", "maxFramePixelCount"].contains(limit):
            "; --max-pixels \(Units.product(width, height)) allows it"
        case .tooManyFrames(let count, _): " with --max-frames \(count)"
        default: nil
        }
    }

    /// The name of the reason's case, such as `invalidHTTPStatusCode`.
    private static func name(of error: KingfisherError) -> String {
        let reason: Any =
            switch error {
            case .requestError(let reason): reason
            case .responseError(let reason): reason
            case .cacheError(let reason): reason
            case .processorError(let reason): reason
            case .imageSettingError(let reason): reason
            }
        return Mirror(reflecting: reason).children.first?.label ?? "\(reason)"
    }

    /// The name of the case, such as `limitExceeded`.
    private static func name(of error: ImagingError) -> String {
        switch error {
        case .unreadableFile: "unreadableFile"
        case .emptyData: "emptyData"
        case .unrecognizedFormat: "unrecognizedFormat"
        case .malformed: "malformed"
        case .limitExceeded: "limitExceeded"
        case .tooManyFrames: "tooManyFrames"
        case .outOfMemory: "outOfMemory"
        case .unsupported: "unsupported"
        case .encodingFailed: "encodingFailed"
        case .coderFailed: "coderFailed"
        case .decoderEnded: "decoderEnded"
        case .isolationUnavailable: "isolationUnavailable"
        case .notBuiltIn: "notBuiltIn"
        }
    }

    /// One line, without the secrets of URLs.
    static func oneLine(_ text: String) -> String {
        Redaction.text(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    }
}

extension ImageInfo {
    /// Reads a header, for commands that report each failure and go on.
    static func reading(_ data: Data) throws(Failure) -> ImageInfo {
        do throws(ImagingError) {
            return try ImageInfo(data: data)
        } catch {
            throw .unreadable(error)
        }
    }
}
